"""Atomic writing: a file is there whole or not at all, whenever the machine stops; equal content gives equal bytes."""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

SUFFIX = ".partial"
"""Of a file that is being written; a run that was killed may leave one, and the next writes over it."""
LEVEL = 6
"""Of compression."""


@contextmanager
def whole(path: Path) -> Iterator[IO[bytes]]:
    """Give a file to write to that takes the place of ``path`` at the end of the context, all of it on the disk.

    If the body raises, nothing takes its place and nothing is left.
    """
    partial = path.with_name(path.name + SUFFIX)
    try:
        with partial.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    _sync(path.parent)


def write(path: Path, content: bytes) -> None:
    """Write a file."""
    with whole(path) as file:
        file.write(content)


def write_compressed(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a file by gzip, without name and time in it."""
    with whole(path) as file, gzip.GzipFile("", "wb", LEVEL, file, mtime=0) as squeezed:
        for piece in pieces:
            squeezed.write(piece)


def compress(source: Path, path: Path) -> None:
    """Write what is in ``source`` by gzip, without name and time in it, and remove ``source``."""
    with source.open("rb") as read, whole(path) as file, gzip.GzipFile("", "wb", LEVEL, file, mtime=0) as squeezed:
        shutil.copyfileobj(read, cast(IO[bytes], squeezed))
    source.unlink()


def _sync(folder: Path) -> None:
    """See that a name which was put into a folder survives a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
