"""The index in LevelDB, for those who have one already; LMDB is faster and lets others read."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator
from pathlib import Path

from rolf_adapters.buffer.errors import BufferFull, SecondWriter

try:
    import plyvel
except ImportError as error:
    raise ImportError(f"backend='leveldb' needs plyvel ({error}): pip install 'rolf[leveldb]'") from error


class LevelIndex:
    """An index; see `rolf_adapters.buffer.index.Index`.

    Args:
        folder: Where the files lie.

    Raises:
        SecondWriter: another process has it open.
    """

    def __init__(self, folder: Path) -> None:
        try:
            self._open = plyvel.DB(str(folder), create_if_missing=True)
        except plyvel.IOError as error:
            if "lock" in str(error).lower():
                raise SecondWriter(f"another process has the index in {str(folder)!r} open: {error}") from error
            raise

    def get(self, key: bytes) -> bytes | None:
        """Return what is stored under a key; None: nothing."""
        found: bytes | None = self._open.get(key)
        return found

    def scan(self, start: bytes, stop: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield keys from ``start`` to before ``stop``, in order, with what they hold, all as of one moment."""
        yield from self._open.iterator(start=start, stop=stop)

    def write(self, puts: Iterable[tuple[bytes, bytes]], deletes: Iterable[bytes]) -> None:
        """Delete, then store, all of it or nothing; when it returns, all is on the disk."""
        try:
            with self._open.write_batch(transaction=True, sync=True) as batch:
                for key in deletes:
                    batch.delete(key)
                for key, value in puts:
                    batch.put(key, value)
        except plyvel.IOError as error:
            raise BufferFull(errno.ENOSPC, f"the index takes no more: {error}; make room and commit again") from error

    def close(self) -> None:
        """Give it back; may be called again."""
        self._open.close()
