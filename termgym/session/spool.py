"""Spool: all of a stream, in a file without a name, for as long as a step lasts and somebody wants it whole."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rolf.output import OutputSink
    from termgym.result import StepResult

PIECE = 65_536
"""How much is read at once [bytes]."""


class Spooling(NamedTuple):
    """Where what does not fit into memory goes, and how much of it."""

    folder: str
    limit: int
    """For each stream [bytes]."""


class Full(NamedTuple):
    """All that one stream of a step brought, its beginning at least. To be read before the next step."""

    pieces: Iterable[bytes]
    missing: int
    """How much more there was [bytes]."""


class Spool:
    """Takes a stream's beginning, up to a limit; a disk that is full is such a limit too."""

    def __init__(self, spooling: Spooling) -> None:
        self._limit = spooling.limit
        self._fd, path = tempfile.mkstemp(dir=spooling.folder)
        os.unlink(path)
        self.size = 0
        """How much was taken [bytes]."""

    def __del__(self) -> None:
        os.close(self._fd)

    def write(self, data: bytes | bytearray) -> None:
        """Append what still fits."""
        rest = memoryview(data)[: self._limit - self.size]
        while rest:
            try:
                written = os.write(self._fd, rest)
            except OSError as error:
                if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                    raise
                self._limit = self.size
                return
            self.size += written
            rest = rest[written:]

    def pieces(self, end: int) -> Iterator[bytes]:
        """Return what was taken, up to byte ``end``."""
        at, end = 0, min(end, self.size)
        while at < end and (piece := os.pread(self._fd, min(PIECE, end - at), at)):
            at += len(piece)
            yield piece

    def lines(self, end: int) -> Iterator[bytes]:
        """Return what was taken, up to byte ``end``, line by line."""
        parts: list[bytes] = []
        for piece in self.pieces(end):
            parts.append(piece)
            if b"\n" in piece:
                *whole, rest = b"".join(parts).split(b"\n")
                parts = [rest]
                yield from (line + b"\n" for line in whole)
        if rest := b"".join(parts):
            yield rest


def without_end(pieces: Iterable[bytes], end: bytes) -> Iterator[bytes]:
    """Return pieces without an end that they may have, twice or once: a prompt."""
    keep = 2 * len(end)
    held = b""
    for piece in pieces:
        held += piece
        if len(held) > keep:
            yield held[: len(held) - keep]
            held = held[len(held) - keep :]
    yield held.removesuffix(end * 2).removesuffix(end)


def pour(result: StepResult, full: Mapping[str, Full], sink: OutputSink) -> None:
    """Give a sink every stream of which a result holds a part, or that no text can hold."""
    for name in ("stdout", "stderr", "late_output"):
        kept: bytes = getattr(result, name)
        if name in full:
            sink.take(name, *full[name])
        elif not _is_text(kept):
            sink.take(name, (kept,), 0)


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
