"""TrajectoryBuffer: episodes on the disk, and drawn from it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rolf_adapters.buffer import catalogue
from rolf_adapters.buffer.catalogue import Entry
from rolf_adapters.buffer.drawing import draw_episodes, draw_steps
from rolf_adapters.buffer.drawing import top_steps as draw_top
from rolf_adapters.buffer.encoding import encode
from rolf_adapters.buffer.episode import Episode, Node, check
from rolf_adapters.buffer.errors import Damaged, DuplicateKey, Gone
from rolf_adapters.buffer.graph import Graph
from rolf_adapters.buffer.index import index_folder
from rolf_adapters.buffer.key import Key
from rolf_adapters.buffer.layout import Pending
from rolf_adapters.buffer.sampling import UNIFORM, Sample, Sampling
from rolf_adapters.buffer.store import Store
from rolf_adapters.buffer.table import Table

SEGMENT_SIZE = 128 << 20
SMALLEST_SEGMENT = 4 << 10
BATCH = 1_000
"""Episodes that are committed together, unless `commit` is called before."""
LARGEST_BATCH = 32 << 20
"""What they may take in memory [bytes]."""


class TrajectoryBuffer:
    """Episodes with what came of what, kept in a folder and drawn uniformly or by causal priority.

    Episodes are numbered in the order in which they were added. They become permanent by `commit`; `add` calls it by
    itself every so often. What was committed survives the process being killed at any moment, and what was not may be
    lost. One process writes; others may read beside it (``readonly=True``, then `refresh`).

    Args:
        folder: Where the episodes lie; made if it is not there.
        capacity: What the segments take at most [bytes]; the oldest are dropped whole. None: all are kept.
        segment_size: What a segment takes at most [bytes].
        backend: Of the index: ``"lmdb"``, or ``"leveldb"`` (extra ``leveldb``).
        alpha: Exponent of the priorities that `Causal` draws by: 0 all alike, 1 in proportion. At 0.5 draws are the
            same on all machines, whose mathematical libraries may differ in other powers.
        batch: Episodes after which `add` commits by itself.
        states: How many of the latest states can be gone back to; what they need is not removed from the disk.
        readonly: Only to read.

    Raises:
        ValueError: an argument is out of range.
        SecondWriter: the buffer is open for writing already.
        FileNotFoundError: there is none to read.
        Damaged: what lies in the folder is no buffer, or one of another format.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        capacity: int | None = None,
        segment_size: int = SEGMENT_SIZE,
        backend: str = "lmdb",
        alpha: float = 0.5,
        batch: int = BATCH,
        states: int = 2,
        readonly: bool = False,
    ) -> None:
        _check_settings(capacity, segment_size, alpha, batch, states)
        self.folder = Path(folder)
        if readonly and not index_folder(self.folder, backend).is_dir():
            raise FileNotFoundError(f"there is no trajectory buffer with a {backend} index in {str(folder)!r}")
        self._readonly, self._batch = readonly, batch
        self._pending: list[Pending] = []
        self._waiting: set[Key] = set()
        self._bytes = 0
        self._store = Store(
            self.folder,
            backend=backend,
            segment_size=segment_size,
            capacity=capacity,
            states=states,
            readonly=readonly,
        )
        self._table = Table(alpha)
        try:
            self._reload()
        except BaseException:
            self._store.close()
            raise

    def _reload(self) -> None:
        """Learn anew which episodes there are."""
        while True:
            extent = self._store.extent
            try:
                self._table.begin(extent.first, (entry for _, entry in self._store.entries()))
                return
            except Damaged:
                self._store.refresh()  # a writer may have gone on meanwhile
                if self._store.extent == extent:
                    raise

    def __len__(self) -> int:
        return self._table.count

    @property
    def numbers(self) -> range:
        """Numbers of the committed episodes, the oldest first."""
        return range(self._table.first, self._table.first + self._table.count)

    @property
    def steps(self) -> int:
        """Steps of all committed episodes."""
        return int(self._table.ends[-1]) if len(self) else 0

    # ---- writing

    def add(self, episode: Episode) -> int:
        """Take an episode, to be committed with others; return its number.

        Raises:
            ValueError, TypeError: it is no episode, or holds what cannot be kept.
            DuplicateKey: its environment has one of that time already.
            BufferFull: there is no room for the commit that was due; the episode waits for the next.
        """
        self._must_write("add")
        check(episode)
        key = Key(episode.env_id, 0, episode.timestamp)
        if key in self._waiting or self._store.find(key) is not None:
            raise DuplicateKey(f"{key} is there already; give each episode of an environment a time of its own")
        body, rewards = encode(episode), np.array(episode.rewards, np.float64)
        self._pending.append(Pending(body, episode.env_id, episode.timestamp, rewards, episode.graph))
        self._waiting.add(key)
        self._bytes += len(body)
        number = self._store.extent.next + len(self._pending) - 1
        if len(self._pending) >= self._batch or self._bytes >= LARGEST_BATCH:
            self.commit()
        return number

    def commit(self) -> None:
        """Make permanent what was added; when it returns, it survives whatever happens.

        Raises:
            BufferFull: there is no room; what was committed before is there, the rest waits for the next try.
        """
        self._must_write("commit")
        if not self._pending:
            return
        before = self._store.extent.next
        try:
            self._adopt(self._store.write(self._pending))
        except BaseException:
            if self._store.extent.next > before and self._pending:  # interrupted when all was written already
                self._adopt([entry for _, entry in self._store.entries(before)])
            raise
        self._store.purge()

    def _adopt(self, placed: list[Entry]) -> None:
        """Take note of what was committed."""
        self._table.extend(placed)
        self._table.drop(self._store.extent.first)
        self._empty()

    def _empty(self) -> None:
        self._pending, self._waiting, self._bytes = [], set(), 0

    def _must_write(self, what: str) -> None:
        self._store.own()
        if self._readonly:
            raise RuntimeError(f"{what} writes, and this buffer was opened with readonly=True")

    # ---- reading

    def episode(self, number: int) -> Episode:
        """Return a committed episode. Its arrays are views of the disk, valid for as long as they are held.

        Raises:
            Gone: there is none of that number, or it was dropped.
            Damaged: its bytes are not those that were written.
        """
        self._store.own()
        return self._store.read(self._table.place(self._row(number)), number)

    def episodes(self, numbers: Iterable[int] | NDArray[np.int64]) -> list[Episode]:
        """Return several, such as ``sample.numbers``; raises what `episode` does."""
        self._store.own()
        wanted = numbers if isinstance(numbers, np.ndarray) else np.array(list(numbers), np.int64)
        if len(wanted):
            self._row(int(wanted.min()))
            self._row(int(wanted.max()))
        return self._store.read_all(self._table.places(wanted - self._table.first), wanted.tolist())

    def node(self, key: Key | str) -> Node:
        """Return the step that a key names.

        Raises:
            Gone: there is none.
        """
        wanted = Key.parse(key) if isinstance(key, str) else key
        number = self._store.find(wanted)
        if number is None or number not in self.numbers:
            raise Gone(f"there is no {wanted}; it was never committed, or it was dropped")
        episode = self.episode(number)
        if not 0 <= wanted.step_id < len(episode):
            raise Gone(f"there is no {wanted}; the episode has steps 0 to {len(episode) - 1}")
        return episode.node(wanted.step_id)

    def graph(self, number: int) -> Graph:
        """Return what came of what in an episode; raises `Gone`."""
        return self._entry(number).graph

    def priorities(self, number: int) -> NDArray[np.float32]:  # (T,)
        """Return the causal priority of each step of an episode; raises `Gone`."""
        return self._entry(number).priorities

    def _entry(self, number: int) -> Entry:
        self._store.own()
        self._row(number)
        found = catalogue.entry(self._store.index, number)
        if found is None:
            raise Gone(f"episode {number} was dropped by the writer; call refresh()")
        return found

    def _row(self, number: int) -> int:
        row = number - self._table.first
        if not 0 <= row < self._table.count:
            raise Gone(f"there is no episode {number!r}; there are {self._table.first} to {self.numbers.stop - 1}")
        return int(row)

    def verify(self) -> list[int]:
        """Read every episode anew and return the numbers of those that are not what was written."""
        self._store.forget()
        damaged = []
        for number in self.numbers:
            try:
                self.episode(number)
            except Damaged:
                damaged.append(number)
        return damaged

    def refresh(self) -> None:
        """See what the writer has committed and dropped since; for readers."""
        self._store.own()
        generation = self._store.extent.generation
        self._store.refresh()
        extent = self._store.extent
        if generation == extent.generation and extent.first <= self.numbers.stop:
            try:
                self._table.extend([entry for _, entry in self._store.entries(self.numbers.stop)])
                self._table.drop(extent.first)
                if len(self):
                    self._store.let_go(self._table.place(0))
                return
            except Damaged:  # the writer has gone on between two looks
                self._store.refresh()
        self._store.forget()
        self._reload()

    # ---- drawing

    def sample_episodes(
        self, count: int, generator: np.random.Generator, how: Sampling = UNIFORM, *, first: int = 0
    ) -> Sample:
        """Draw committed episodes with replacement; the same generator and episodes give the same.

        Args:
            count: How many.
            generator: Draws ``2 * count`` numbers.
            how: `Uniform`, or `Causal`: an episode weighs what its steps do together.
            first: Number of the oldest that may be drawn. Probabilities and weights are among those from it on, as if
                the others had been dropped.

        Raises:
            ValueError: the buffer is empty, none is left from ``first`` on, or the count is no positive number.
        """
        self._store.own()
        return draw_episodes(self._table.since(first), count, generator, how)

    def sample_steps(
        self, count: int, generator: np.random.Generator, how: Sampling = UNIFORM, *, first: int = 0
    ) -> Sample:
        """Draw steps of all committed episodes with replacement; otherwise as `sample_episodes`."""
        self._store.own()
        return draw_steps(self._table.since(first), count, generator, how, self.priorities)

    def top_steps(self, count: int, *, first: int = 0) -> list[tuple[int, int]]:
        """Return episode and step of the highest causal priorities, the highest first; fewer where the rest have none.

        How many of them a sample holds says whether it covers what matters. Of the episodes from ``first`` on; raises
        `ValueError` where there are none.
        """
        self._store.own()
        return draw_top(self._table.since(first), count, self.priorities)

    # ---- resuming

    def state(self) -> dict[str, Any]:
        """Commit, and return as plain JSON which episodes there are; a checkpoint holds it."""
        self.commit()
        return self._store.state()

    def load(self, state: dict[str, Any], *, partly: bool = False) -> int:
        """Go back to a state: episodes that came after it are removed, those dropped since are there again.

        Arrays that were read before stay as they are.

        Args:
            state: What `state` returned.
            partly: Whether to go back also where some of the state's episodes are gone for good, without these.

        Returns:
            How many are gone; 0 unless ``partly``.

        Raises:
            ValueError: it is another buffer's state, or too old; nothing was changed.
        """
        self._must_write("load")
        gone = self._store.load(state, partly=partly)
        self._empty()
        self._reload()
        return gone

    def close(self) -> None:
        """Commit and give everything back; may be called again."""
        try:
            if self._pending:
                self.commit()
        finally:
            self._empty()
            self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _check_settings(capacity: int | None, segment_size: int, alpha: float, batch: int, states: int) -> None:
    if segment_size < SMALLEST_SEGMENT:
        raise ValueError(f"segment_size={segment_size!r} is too small; give {SMALLEST_SEGMENT} bytes at least")
    if capacity is not None and capacity < 2 * segment_size:
        raise ValueError(
            f"capacity={capacity!r} holds fewer than two segments of {segment_size} bytes, and whole segments are "
            f"dropped; give {2 * segment_size} at least, or a smaller segment_size"
        )
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha={alpha!r} is out of range; give 0 to 1")
    if batch < 1:
        raise ValueError(f"batch={batch!r}; commit one episode at least")
    if states < 0:
        raise ValueError(f"states={states!r}; give 0 or more")
