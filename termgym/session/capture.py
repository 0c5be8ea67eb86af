"""Output: kept within a byte budget, head and tail, and turned into text."""

from __future__ import annotations

from itertools import chain

from termgym.session.spool import Full, Spool, Spooling


class Capture:
    """Bytes of one stream; over the budget the first and the last half of it are kept, and all of it where that is
    asked for (``spooling``)."""

    __slots__ = ("_head", "_limit", "_spool", "_tail", "spooling", "total")

    def __init__(self, limit: int, spooling: Spooling | None = None) -> None:
        self._limit = limit
        self.spooling = spooling
        self._spool: Spool | None = None
        self._head = bytearray()
        self._tail: bytearray | None = None
        self.total = 0
        """How much there was [bytes]."""

    def add(self, data: bytes) -> None:
        """Append a chunk, of any size."""
        self.total += len(data)
        if self._tail is None:
            self._head += data
            if self.total > self._limit:
                if self.spooling is not None:
                    self._spool = Spool(self.spooling)
                    self._spool.write(self._head)
                half = self._limit // 2
                self._tail = self._head[half:]
                del self._head[half:]
        else:
            self._tail += data
            if self._spool is not None:
                self._spool.write(data)
        if self._tail is not None and len(self._tail) > 2 * self._limit + 65_536:
            # Trimmed now and then only: trimming at every chunk would copy the tail each time.
            del self._tail[: len(self._tail) - self._tail_limit]

    def cut(self, mark: bytes) -> bytes:
        """Remove the last occurrence of a mark and what follows it; return what followed."""
        part = self._head if self._tail is None else self._tail
        start = part.rfind(mark)
        if start < 0:
            return b""
        after = bytes(part[start + len(mark) :])
        self.total -= len(part) - start
        del part[start:]
        return after

    @property
    def spool(self) -> Spool | None:
        """Where all of it is; None: ``kept`` has it all, or nobody asked."""
        return self._spool

    def full(self) -> Full | None:
        """Return all of it, where ``kept`` does not."""
        if self._spool is None:
            return None
        return Full(self._spool.pieces(self.total), max(0, self.total - self._spool.size))

    @property
    def _tail_limit(self) -> int:
        return self._limit - self._limit // 2

    def kept(self) -> bytes:
        """Return what is kept: everything, or ``limit`` bytes whose first half is the head."""
        if self._tail is None:
            return bytes(self._head) if self.total else b""
        return bytes(self._head) + bytes(self._tail[max(0, len(self._tail) - self._tail_limit) :])


class Streams:
    """What came through the two screens, each within the budget."""

    __slots__ = ("_limit", "_spooling", "error", "main")

    def __init__(self, limit: int) -> None:
        if limit < 2:
            raise ValueError(f"output_limit is {limit!r}; it must be at least 2 bytes")
        self._limit = limit
        self._spooling: Spooling | None = None
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self.main, self.error = Capture(self._limit, self._spooling), Capture(self._limit, self._spooling)

    def full(self) -> Full | None:
        """Return all of both, one after the other, where the two ``kept`` do not have it."""
        each = [stream.full() or Full((stream.kept(),), 0) for stream in (self.main, self.error)]
        if self.main.spool is None and self.error.spool is None:
            return None
        return Full(chain.from_iterable(full.pieces for full in each), sum(full.missing for full in each))

    def spool(self, spooling: Spooling | None) -> None:
        """Keep all of what is to come; of a stream that is over the budget already its beginning is gone."""
        self._spooling = self.main.spooling = self.error.spooling = spooling

    def add(self, from_error_pty: bool, data: bytes) -> None:
        """Append a chunk."""
        (self.error if from_error_pty else self.main).add(data)

    @property
    def empty(self) -> bool:
        """Whether nothing came."""
        return not (self.main.total or self.error.total)


def decode(data: bytes, total: int | None = None) -> str:
    """Return output as text: UTF-8, replacement characters for the rest, a visible mark where bytes were left out.

    Args:
        data: what a ``Capture`` kept.
        total: how much there was [bytes]; more than ``len(data)`` means that the middle is missing.
    """
    missing = 0 if total is None else total - len(data)
    if missing <= 0:
        return data.decode("utf-8", "replace")
    half = len(data) // 2
    head, tail = _without_broken_end(data[:half]), _without_broken_start(data[half:])
    missing += len(data) - len(head) - len(tail)
    return f"{head.decode('utf-8', 'replace')}\n[… {missing} bytes left out …]\n{tail.decode('utf-8', 'replace')}"


def _without_broken_end(data: bytes) -> bytes:
    """Return the bytes without a code point that the cut left unfinished."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 == 0x80:
            continue  # a continuation byte: its first byte is further back
        needed = 1 if byte < 0xC0 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
        return data[:-back] if needed > back else data
    return data


def _without_broken_start(data: bytes) -> bytes:
    """Return the bytes without the continuation bytes of a code point whose start the cut took away."""
    skip = 0
    while skip < min(3, len(data)) and data[skip] & 0xC0 == 0x80:
        skip += 1
    return data[skip:]
