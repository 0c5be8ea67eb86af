"""Output: kept within a byte budget, head and tail, and turned into text."""

from __future__ import annotations


class Capture:
    """Bytes of one stream; over the budget the first and the last half of it are kept."""

    __slots__ = ("_head", "_limit", "_tail", "total")

    def __init__(self, limit: int) -> None:
        self._limit = limit
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
                half = self._limit // 2
                self._tail = self._head[half:]
                del self._head[half:]
        else:
            self._tail += data
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
    def _tail_limit(self) -> int:
        return self._limit - self._limit // 2

    def kept(self) -> bytes:
        """Return what is kept: everything, or ``limit`` bytes whose first half is the head."""
        if self._tail is None:
            return bytes(self._head) if self.total else b""
        return bytes(self._head) + bytes(self._tail[max(0, len(self._tail) - self._tail_limit) :])


class Streams:
    """What came through the two screens, each within the budget."""

    __slots__ = ("_limit", "error", "main")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self.main, self.error = Capture(self._limit), Capture(self._limit)

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
