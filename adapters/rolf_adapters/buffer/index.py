"""Index: where episodes lie, what their steps are worth and what came of what, in a sorted store of keys.

Two stores come along, LMDB and LevelDB, behind one protocol.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

BACKENDS = ("lmdb", "leveldb")


class Index(Protocol):
    """A store of bytes under keys that are sorted as bytes."""

    def get(self, key: bytes) -> bytes | None:
        """Return what is stored under a key; None: nothing."""

    def scan(self, start: bytes, stop: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield keys from ``start`` to before ``stop``, in order, with what they hold, all as of one moment."""

    def write(self, puts: Iterable[tuple[bytes, bytes]], deletes: Iterable[bytes]) -> None:
        """Delete, then store, all of it or nothing; when it returns, all is on the disk.

        Raises:
            BufferFull: there is no room.
        """

    def close(self) -> None:
        """Give it back; may be called again."""


def index_folder(folder: Path, backend: str) -> Path:
    """Return where the index of a buffer lies.

    Raises:
        ValueError: there is no such backend, or the buffer has an index of another.
    """
    if backend not in BACKENDS:
        raise ValueError(f"backend={backend!r} is not known; allowed are {', '.join(map(repr, BACKENDS))}")
    for other in BACKENDS:
        if other != backend and (folder / f"index-{other}").exists():
            raise ValueError(f"{str(folder)!r} has an index of {other}; give backend={other!r}")
    return folder / f"index-{backend}"


def open_index(backend: str, folder: Path, readonly: bool) -> Index:
    """Open the index of a buffer.

    Args:
        backend: One of ``BACKENDS``.
        folder: Where it lies.
        readonly: Only to read, beside a writer.

    Raises:
        ValueError: it has no readers beside a writer.
        ImportError: its extra is not installed.
        SecondWriter: LevelDB is open elsewhere.
    """
    if backend == "lmdb":
        from rolf_adapters.buffer.lmdb_index import LmdbIndex

        return LmdbIndex(folder, readonly=readonly)
    if readonly:
        raise ValueError("LevelDB lets no process read beside its writer; read a buffer made with backend='lmdb'")
    from rolf_adapters.buffer.leveldb_index import LevelIndex

    return LevelIndex(folder)
