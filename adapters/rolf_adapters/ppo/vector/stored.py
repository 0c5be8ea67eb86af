"""Stored: the episodes of earlier iterations on the disk, and which of their steps are drawn."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rolf_adapters.buffer import BufferFull, Causal, Episode, TrajectoryBuffer, Uniform
from rolf_adapters.ppo import parallel, seeds
from rolf_adapters.ppo.run import TrainingError
from rolf_adapters.ppo.vector.collector import Collected
from rolf_adapters.ppo.vector.recording import Recorder
from rolf_adapters.ppo.vector.settings import Replay

FOLDER = "buffer"
SEGMENTS = 16
"""Into so many the buffer's room is divided; the oldest is dropped whole."""
TOP = 10
"""Steps of highest causal priority of which it is told how many were drawn."""


class Plan(NamedTuple):
    """How much is played in an iteration: what the buffer's clock counts."""

    rows: int
    """Of all processes."""
    steps: int
    """Of each row."""
    first: int
    """Of all rows, the first of this process."""


class Drawn(NamedTuple):
    """Steps to learn from again."""

    numbers: NDArray[np.int64]
    """(n,) their episodes."""
    steps: NDArray[np.int64]
    weights: NDArray[np.float64]
    """(n,) importance weights of the drawing."""


class Stored:
    """The episodes that a process has stored, in a folder of its own.

    Args:
        settings: What is stored and drawn.
        plan: How much is played.
        folder: The training's.
        states: How many of the latest states may be gone back to.
        seed: Of the training.
    """

    def __init__(self, settings: Replay, plan: Plan, folder: Path, states: int, seed: int) -> None:
        self.settings = settings
        self._plan, self._seed = plan, seed
        room = settings.capacity << 20
        self._buffer = TrajectoryBuffer(
            folder / FOLDER / f"rank-{parallel.rank()}", capacity=room, segment_size=room // SEGMENTS, states=states
        )
        self._strange = len(self._buffer) > 0

    def store(self, recorder: Recorder, kept: Collected, iteration: int) -> None:
        """Store what was recorded of an iteration."""
        self._check()
        plan = self._plan

        def clock(row: int, first: int) -> int:
            return (iteration * plan.rows + plan.first + row) * plan.steps + first

        with self._room():
            for episode in recorder.episodes(kept, clock):
                self._buffer.add(episode)
            self._buffer.commit()

    def age(self, episode: Episode, iteration: int) -> int:
        """Return how many iterations ago an episode was played."""
        return iteration - episode.timestamp // (self._plan.rows * self._plan.steps)

    def draw(self, count: int, iteration: int) -> Drawn | None:
        """Return so many steps of episodes that are not too old; None where there are none."""
        self._check()
        numbers = self._buffer.numbers
        oldest = self._oldest(iteration)
        if oldest >= numbers.stop:
            return None
        if self.settings.sampler == "fifo":
            return self._newest(oldest, count)
        how = Causal() if self.settings.sampler == "causal" else Uniform()
        drawing = seeds.generator(self._seed, "replay", iteration, parallel.rank())
        sample = self._buffer.sample_steps(count, drawing, how, first=oldest)
        assert sample.steps is not None
        return Drawn(sample.numbers, sample.steps, sample.weights)

    def episode(self, number: int) -> Episode:
        """Return a stored episode."""
        return self._buffer.episode(number)

    def covered(self, drawn: Drawn, iteration: int) -> tuple[int, int]:
        """Return how many of the steps of highest causal priority were drawn, and how many there are: 10 at most."""
        top = self._buffer.top_steps(TOP, first=self._oldest(iteration))
        there = set(zip(drawn.numbers.tolist(), drawn.steps.tolist(), strict=True))
        return len(there.intersection(top)), len(top)

    def state(self) -> dict[str, Any]:
        """Return which episodes there are, as plain JSON."""
        self._check()
        with self._room():
            return self._buffer.state()

    def load(self, state: dict[str, Any], *, partly: bool = False) -> int:
        """Go back to a state, returning and raising what `rolf_adapters.buffer.TrajectoryBuffer.load` does."""
        with self._room():
            gone = self._buffer.load(state, partly=partly)
        self._strange = False
        return gone

    def close(self) -> None:
        """Give everything back; may be called again."""
        self._buffer.close()

    def _oldest(self, iteration: int) -> int:
        """Return the number of the first episode that is not too old."""
        numbers = self._buffer.numbers
        ages = self.settings.oldest
        # They were stored in the order of their iterations.
        at = bisect_left(numbers, -ages, key=lambda number: -self.age(self._buffer.episode(number), iteration))
        return numbers.start + at

    def _newest(self, oldest: int, count: int) -> Drawn:
        """Return the newest steps, and these again where there are not enough."""
        found: list[tuple[int, int]] = []
        for number in reversed(range(oldest, self._buffer.numbers.stop)):
            found += [(number, step) for step in reversed(range(len(self._buffer.episode(number))))]
            if len(found) >= count:
                break
        chosen = np.resize(np.array(found, np.int64), (count, 2))
        return Drawn(chosen[:, 0], chosen[:, 1], np.ones(count))

    @contextmanager
    def _room(self) -> Iterator[None]:
        try:
            yield
        except BufferFull as error:
            raise TrainingError(f"{error}; when there is room, --resume goes on from the last checkpoint") from error

    def _check(self) -> None:
        if self._strange:
            raise TrainingError(
                f"{str(self._buffer.folder)!r} holds episodes of a training that is not this one; remove the folder, "
                "or give another --out"
            )
