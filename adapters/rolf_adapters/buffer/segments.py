"""Segments: the files that hold the episodes themselves, written at the end and read by mapping them into memory."""

from __future__ import annotations

import errno
import mmap
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from rolf_adapters.buffer import framing
from rolf_adapters.buffer.errors import BufferFull, Damaged, Gone

_VECTOR = 1_000
"""Chunks that are written at once: the kernel takes 1 024 (IOV_MAX of limits.h)."""
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Run(NamedTuple):
    """Bytes for one place of one segment."""

    segment: int
    offset: int
    chunks: list[bytes]
    """The first run of a segment begins at 0 and makes the file."""


class Place(NamedTuple):
    """Where an episode lies."""

    segment: int
    offset: int
    """Of the record's head."""
    length: int
    """Of the body."""


class Segments:
    """The segments in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._maps: dict[int, mmap.mmap] = {}
        self._whole: dict[int, set[int]] = {}
        """Numbers of episodes that were found to be what was written, by segment: they go when it goes."""

    def path(self, segment: int) -> Path:
        """Return the file of a segment."""
        return self._folder / f"segment-{segment:08d}.episodes"

    def present(self) -> list[int]:
        """Return the segments that there are files of, in order."""
        names = (path.stem.partition("-")[2] for path in self._folder.glob("segment-*.episodes"))
        return sorted(int(name) for name in names if name.isdecimal())

    def size(self, segment: int) -> int:
        """Return how large the file of a segment is [bytes]."""
        return self.path(segment).stat().st_size

    # ---- writing

    def write(self, runs: Iterable[Run]) -> None:
        """Write runs and have them on the disk, all of them or none.

        Raises:
            BufferFull: there is no room; what was there before is as it was.
        """
        begun: list[Run] = []
        try:
            for run in runs:
                begun.append(run)
                self._write(run)
            if any(run.offset == 0 for run in begun):
                self._sync_folder()
        except BaseException as error:
            self.undo(begun)
            if isinstance(error, OSError) and error.errno in _FULL:
                message = f"no room for more episodes in {str(self._folder)!r}: {error.strerror}"
                raise BufferFull(error.errno, f"{message}; make room and commit again") from error
            raise

    def _write(self, run: Run) -> None:
        descriptor = os.open(self.path(run.segment), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            if os.fstat(descriptor).st_size > run.offset:  # what a commit that failed has left
                os.ftruncate(descriptor, run.offset)
            at = run.offset
            for start in range(0, len(run.chunks), _VECTOR):
                at = _written(descriptor, run.chunks[start : start + _VECTOR], at)
            os.fdatasync(descriptor)
        finally:
            os.close(descriptor)

    def undo(self, runs: Iterable[Run]) -> None:
        """Take back what runs have written, the last first."""
        for run in reversed(list(runs)):
            if run.offset == 0:
                self.path(run.segment).unlink(missing_ok=True)
            else:
                os.truncate(self.path(run.segment), run.offset)

    def _sync_folder(self) -> None:
        descriptor = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def settle(self, segment: int) -> None:
        """See that a segment is on the disk as it is now, whoever wrote it."""
        descriptor = os.open(self.path(segment), os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fdatasync(descriptor)
        finally:
            os.close(descriptor)
        self._sync_folder()

    def remove(self, segment: int) -> None:
        """Remove a segment; arrays that were read from it stay valid."""
        self._maps.pop(segment, None)  # the map lives as long as arrays that are views of it
        self._whole.pop(segment, None)
        self.path(segment).unlink(missing_ok=True)

    def let_go(self, before: int) -> None:
        """Hold no more of the segments before one, which somebody else removes: a map keeps its file on the disk."""
        for held in (self._maps, self._whole):
            for segment in [each for each in held if each < before]:
                del held[segment]

    def forget(self) -> None:
        """Look at every file anew."""
        self._maps, self._whole = {}, {}

    def cut(self, segment: int, end: int) -> None:
        """Leave of a segment what is before a place.

        By a copy that takes the file's place: whoever has mapped the old one would be killed by reading beyond its end.
        """
        path = self.path(segment)
        if path.stat().st_size == end:
            return
        fresh = path.with_suffix(".fresh")
        with path.open("rb") as old, fresh.open("wb") as new:
            new.write(old.read(end))
            new.flush()
            os.fsync(new.fileno())
        fresh.replace(path)
        self._sync_folder()
        self.forget()

    # ---- reading

    def body(self, place: Place | tuple[int, int, int], number: int) -> tuple[Any, int]:
        """Return the map in which an episode lies, and where its bytes begin; checked when first read.

        Raises:
            Damaged: it is not what was written.
            Gone: the segment is no longer there.
        """
        segment, offset, length = place
        data = self._maps.get(segment)
        if data is None or len(data) < offset + framing.HEAD_SIZE + length:
            data = self._mapped(segment)
        whole = self._whole.setdefault(segment, set())
        if number not in whole:
            if not framing.is_whole(data, offset, length, number):
                where = f"byte {offset} of {str(self.path(segment))!r}"
                raise Damaged(f"episode {number} at {where} is not what was written; the others can be read")
            whole.add(number)
        return data, offset + framing.HEAD_SIZE

    def crc(self, place: Place, number: int) -> int:
        """Return the CRC-32 that was written with an episode; raises what `body` does."""
        data, at = self.body(place, number)
        return framing.crc_of(data, at - framing.HEAD_SIZE)

    def _mapped(self, segment: int) -> mmap.mmap:
        """Map a segment, all that there is of it now."""
        try:
            with self.path(segment).open("rb") as file:
                self._maps[segment] = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        except FileNotFoundError:
            raise Gone(f"segment {segment} is no longer there: the writer dropped it; call refresh()") from None
        except ValueError as error:  # an empty file cannot be mapped
            raise Damaged(f"{str(self.path(segment))!r} is empty") from error
        return self._maps[segment]


def _written(descriptor: int, chunks: list[bytes], at: int) -> int:
    """Write chunks at a place of a file; return where they end."""
    size = sum(map(len, chunks))
    rest = size - os.pwritev(descriptor, chunks, at)
    if rest:  # a disk that is nearly full, or a signal
        data = memoryview(b"".join(chunks))
        while rest:
            rest -= os.pwrite(descriptor, data[size - rest :], at + size - rest)
    return at + size
