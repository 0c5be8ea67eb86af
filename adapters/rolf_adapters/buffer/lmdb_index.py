"""The index in LMDB: one file, one writer, any number of readers in other processes."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator
from pathlib import Path

from rolf_adapters.buffer.errors import BufferFull

try:
    import lmdb
except ImportError as error:
    raise ImportError(f"the trajectory buffer needs lmdb ({error}): pip install 'rolf[buffer]'") from error

MAP_SIZE = 1 << 36
"""How large the file may become [bytes]; of it, the disk holds only what is used."""


class LmdbIndex:
    """An index; see `rolf_adapters.buffer.index.Index`.

    Args:
        folder: Where the file lies.
        readonly: Only to read.

    Raises:
        RuntimeError: this process has it open already.
    """

    def __init__(self, folder: Path, *, readonly: bool) -> None:
        try:
            self._open = lmdb.open(str(folder), map_size=MAP_SIZE, readonly=readonly, create=not readonly)
        except lmdb.Error as error:
            if "already open in this process" in str(error):
                raise RuntimeError(f"this process has {str(folder)!r} open already; read through that") from error
            raise
        self._open.reader_check()  # places of readers that were killed

    def get(self, key: bytes) -> bytes | None:
        """Return what is stored under a key; None: nothing."""
        with self._open.begin() as transaction:
            found: bytes | None = transaction.get(key)
        return found

    def scan(self, start: bytes, stop: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield keys from ``start`` to before ``stop``, in order, with what they hold, all as of one moment."""
        with self._open.begin() as transaction, transaction.cursor() as cursor:
            if cursor.set_range(start):
                for key, value in cursor:
                    if key >= stop:
                        return
                    yield key, value

    def write(self, puts: Iterable[tuple[bytes, bytes]], deletes: Iterable[bytes]) -> None:
        """Delete, then store, all of it or nothing; when it returns, all is on the disk."""
        try:
            with self._open.begin(write=True) as transaction:
                for key in deletes:
                    transaction.delete(key)
                with transaction.cursor() as cursor:
                    cursor.putmulti(list(puts))
        except (lmdb.MapFullError, lmdb.DiskError) as error:
            raise BufferFull(errno.ENOSPC, f"the index takes no more: {error}; make room and commit again") from error
        except lmdb.Error as error:
            if error.args and "No space left" in str(error):
                message = f"the index takes no more: {error}; make room and commit again"
                raise BufferFull(errno.ENOSPC, message) from error
            raise

    def close(self) -> None:
        """Give it back; may be called again."""
        self._open.close()
