"""Store: episodes on the disk, so that what was committed is there whatever happens next.

The order is what makes it so: the episodes are written and have reached the disk before the transaction of the index
that knows of them. A process that dies between the two leaves episodes that the index does not know; whoever opens the
buffer next finds them behind the last known place, and drops what is torn.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from rolf_adapters.buffer import catalogue
from rolf_adapters.buffer.catalogue import Entry
from rolf_adapters.buffer.decoding import decode
from rolf_adapters.buffer.episode import Episode
from rolf_adapters.buffer.errors import Damaged
from rolf_adapters.buffer.extent import FORMAT, Extent
from rolf_adapters.buffer.index import index_folder, open_index
from rolf_adapters.buffer.key import Key
from rolf_adapters.buffer.layout import Pending, Tail, lay_out
from rolf_adapters.buffer.lock import WriterLock
from rolf_adapters.buffer.priority import priorities
from rolf_adapters.buffer.recovery import beginning, recover
from rolf_adapters.buffer.segments import Place, Segments


class Store:
    """The episodes of a folder.

    Args:
        folder: The folder; a writer makes it.
        backend: Of the index.
        segment_size: What a segment takes at most, unless one episode takes more [bytes].
        capacity: What all segments take at most, but for one [bytes]; the oldest are dropped. None: all are kept.
        states: How many of the latest states can be gone back to.
        readonly: Only to read.
    """

    def __init__(
        self, folder: Path, *, backend: str, segment_size: int, capacity: int | None, states: int, readonly: bool
    ) -> None:
        self._segment_size, self._capacity, self._states = segment_size, capacity, states
        self._owner = os.getpid()
        self._segments = Segments(folder)
        self._tail = Tail({}, [])
        with ExitStack() as opened:
            if not readonly:
                folder.mkdir(parents=True, exist_ok=True)
                opened.callback(WriterLock(folder / "writer.lock").release)
            self.index = opened.enter_context(closing(open_index(backend, index_folder(folder, backend), readonly)))
            self.extent = catalogue.extent(self.index) or Extent()
            if not readonly:
                self._open()
                self._look()
            self._opened = opened.pop_all()

    # ---- opening

    def _open(self) -> None:
        """Take up what a writer that died left behind; without an index, all there is."""
        rebuilt = catalogue.extent(self.index) is None
        extent = beginning(self._segments) if rebuilt else self.extent
        found, segment, offset = recover(self._segments, extent, careful=rebuilt)
        puts: list[tuple[bytes, bytes]] = []
        for number, place in found:
            episode = self.read(place, number)
            (worth,) = priorities([episode.graph], [episode.rewards])
            puts += catalogue.puts(number, Entry(place, episode.env_id, episode.timestamp, worth, episode.graph))
        fresh = replace(extent, next=extent.next + len(found), segment=segment, offset=offset)
        if fresh != self.extent:
            self.index.write([*puts, catalogue.put_extent(fresh)], [])
            self.extent = fresh
        oldest = catalogue.entry(self.index, fresh.kept)
        for stray in self._segments.present():
            if oldest is not None and stray < oldest.place.segment:
                self._segments.remove(stray)

    def _look(self) -> None:
        """Learn from the index which segments there are."""
        self._tail = Tail({}, [])
        numbers = range(self.extent.first, self.extent.next)
        at = 0
        while at < len(numbers):
            segment = self._segment(numbers[at])
            self._tail.firsts[segment] = numbers[at]
            at = bisect_right(numbers, segment, at, key=self._segment)
        if self.extent.segment in self._tail.firsts:
            last = self._tail.firsts[self.extent.segment]
            self._tail.offsets.extend(entry.place.offset for _, entry in self.entries(last))

    def _segment(self, number: int) -> int:
        entry = catalogue.entry(self.index, number)
        if entry is None:
            raise Damaged(f"the index lacks episode {number}; it should hold those from {self.extent.first} on")
        return entry.place.segment

    def entries(self, start: int | None = None) -> Iterator[tuple[int, Entry]]:
        """Yield the episodes that are not dropped, from one on.

        Raises:
            Damaged: the index lacks one.
        """
        expected = self.extent.first if start is None else start
        for number, entry in catalogue.entries(self.index, expected, self.extent.next):
            if number != expected:
                break
            yield number, entry
            expected += 1
        if expected != self.extent.next:
            raise Damaged(f"the index lacks episode {expected}; it should hold those up to {self.extent.next - 1}")

    # ---- reading

    def own(self) -> None:
        """Refuse to go on in a child of the process that opened the buffer.

        Raises:
            RuntimeError: this is one.
        """
        if os.getpid() != self._owner:
            raise RuntimeError(
                f"this buffer was opened by process {self._owner} and cannot be used in a child of it; open it here, "
                f"after the fork, with readonly=True"
            )

    def read(self, place: Place | tuple[int, int, int], number: int) -> Episode:
        """Return an episode."""
        return decode(*self._segments.body(place, number))

    def read_all(self, places: Iterable[tuple[int, int, int]], numbers: Iterable[int]) -> list[Episode]:
        """Return several episodes."""
        body = self._segments.body
        return [decode(*body(place, number)) for place, number in zip(places, numbers, strict=True)]

    def find(self, key: Key) -> int | None:
        """Return the number of the episode that a step belongs to; None: there is none that is not dropped."""
        number = catalogue.find(self.index, key)
        return number if number is not None and self.extent.first <= number < self.extent.next else None

    def refresh(self) -> None:
        """See what a writer has committed since."""
        self.extent = catalogue.extent(self.index) or Extent()

    def forget(self) -> None:
        """Look at the files anew: a writer has gone back, and others have taken their places."""
        self._segments.forget()

    def let_go(self, place: Place) -> None:
        """Hold no more of what is older than the segment of a place; the writer removes it."""
        self._segments.let_go(place.segment)

    # ---- writing

    def write(self, pending: Sequence[Pending]) -> list[Entry]:
        """Commit episodes; when it returns, they are on the disk, and the oldest dropped where there are too many.

        Raises:
            BufferFull: there is no room; nothing has changed.
        """
        plan = lay_out(pending, self.extent, self._tail, self._segment_size)
        extent = self._dropped(plan.extent, plan.tail.firsts)
        puts = [catalogue.put_extent(extent)]
        for number, entry in enumerate(plan.entries, start=self.extent.next):
            puts += catalogue.puts(number, entry)
        self._segments.write(plan.runs)
        try:
            self.index.write(puts, [])
        except BaseException:
            if catalogue.extent(self.index) == extent:  # interrupted when it was written already
                self.extent, self._tail = extent, plan.tail
            else:
                self._segments.undo(plan.runs)
            raise
        self.extent, self._tail = extent, plan.tail
        return plan.entries

    def _dropped(self, extent: Extent, firsts: dict[int, int]) -> Extent:
        """Return an extent without the oldest segments where all together are too large."""
        if self._capacity is None:
            return extent
        # How much of the last segment is used depends on when it is committed; counting it whole does not.
        room = self._capacity // self._segment_size
        while len(firsts) > room:
            del firsts[min(firsts)]
        return replace(extent, first=firsts[min(firsts)]) if firsts else extent

    def purge(self) -> None:
        """Remove from the disk what was dropped and no state needs; raises `BufferFull`, and can be tried again."""
        oldest = min((self.extent.first, *(first for first, _ in self.extent.retained)))
        if oldest == self.extent.kept:
            return
        gone, segments = [], set()
        for number, entry in catalogue.entries(self.index, self.extent.kept, oldest):
            gone += catalogue.deletes(self.index, number, entry)
            segments.add(entry.place.segment)
        fresh = replace(self.extent, kept=oldest)
        self.index.write([catalogue.put_extent(fresh)], gone)
        self.extent = fresh
        for segment in sorted(segments):
            self._segments.remove(segment)

    # ---- states

    def state(self) -> dict[str, Any]:
        """Return which episodes there are now, to go back to."""
        extent = self.extent
        retained = (*extent.retained, (extent.first, extent.next))[-self._states :] if self._states else ()
        fresh = replace(extent, retained=retained)
        self.index.write([catalogue.put_extent(fresh)], [])
        self.extent = fresh
        self.purge()
        return {
            "format": FORMAT,
            "first": extent.first,
            "next": extent.next,
            "segment": extent.segment,
            "offset": extent.offset,
            "crc": self._last_crc(extent.next),
        }

    def _last_crc(self, following: int) -> int:
        """Return the CRC-32 of the episode before a number, so that a state of another buffer is known; 0: none."""
        entry = catalogue.entry(self.index, following - 1) if following > 0 else None
        return 0 if entry is None else self._segments.crc(entry.place, following - 1)

    def load(self, state: dict[str, Any], *, partly: bool) -> int:
        """Go back to a state: what came after it is removed, what was dropped since is there again.

        Returns:
            How many episodes that it needs are on the disk no longer.

        Raises:
            ValueError: it is a state of another buffer, or there are such episodes and ``partly`` is False.
        """
        self._check(state, partly)
        old, following = self.extent, state["next"]
        first = min(max(state["first"], old.kept), following)
        deletes: list[bytes] = []
        for number, entry in catalogue.entries(self.index, following, old.next):
            deletes += catalogue.deletes(self.index, number, entry)
        again = catalogue.entries(self.index, first, min(old.first, following))
        puts = [catalogue.put_key(number, entry) for number, entry in again]
        fresh = replace(
            old,
            first=first,
            next=following,
            segment=state["segment"],
            offset=state["offset"] if first < following else 0,  # where nothing is left, its segment is gone too
            kept=min(old.kept, first),
            generation=old.generation + 1,
            retained=tuple(each for each in old.retained if each[1] <= following),
        )
        self.index.write([*puts, catalogue.put_extent(fresh)], deletes)
        self.extent = fresh
        for segment in reversed(self._segments.present()):
            if segment > fresh.segment or fresh.offset == 0:
                self._segments.remove(segment)
        if fresh.offset:
            self._segments.cut(fresh.segment, fresh.offset)
        self._segments.forget()
        self._look()
        return int(first - state["first"])

    def _check(self, state: dict[str, Any], partly: bool) -> None:
        if state.get("format") != FORMAT:
            raise ValueError(f"state {state!r:.80} is none of a trajectory buffer; give what state() returned")
        first, following = state["first"], state["next"]
        if first < self.extent.kept and not partly:
            raise ValueError(
                f"the state needs episodes from {first} on, but those before {self.extent.kept} were dropped and are "
                f"gone; a buffer keeps what the latest states={self._states} need"
            )
        if following > self.extent.next:
            raise ValueError(f"the state has {following} episodes, this buffer {self.extent.next}: it is another's")
        if following > self.extent.kept and self._last_crc(following) != state["crc"]:
            raise ValueError(f"episode {following - 1} is not the one of the state: it is another buffer's")

    def close(self) -> None:
        """Give everything back; may be called again."""
        if os.getpid() == self._owner:
            self._opened.close()
