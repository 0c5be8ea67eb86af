"""Directories by descriptor: no path is too long, and none is too deep.

A tree is walked with a stack of relative paths instead of a chain of open directories, so a tree of thousands of levels
needs neither recursion nor more than one descriptor a tree.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_REACH = 4000  # bytes of path that one openat() may take; PATH_MAX is 4096


def join(parent: bytes, name: bytes) -> bytes:
    """Return the relative path of an entry; the root of a tree is the empty path."""
    return parent + b"/" + name if parent else name


def split(path: bytes) -> tuple[bytes, bytes]:
    """Return parent and name of a relative path."""
    parent, _, name = path.rpartition(b"/")
    return parent, name


@contextmanager
def opened_root(root: Path) -> Iterator[int]:
    """Open the root of a tree; its path may lead through symbolic links."""
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def open_directory(root: int, path: bytes) -> int:
    """Open a directory of a tree by its relative path."""
    if not path:
        return os.open(b".", _DIRECTORY, dir_fd=root)
    here = root
    try:
        while len(path) > _REACH:
            cut = path.rindex(b"/", 0, _REACH)
            deeper = os.open(path[:cut], _DIRECTORY, dir_fd=here)
            if here != root:
                os.close(here)
            here, path = deeper, path[cut + 1 :]
        return os.open(path, _DIRECTORY, dir_fd=here)
    finally:
        if here != root:
            os.close(here)


@contextmanager
def opened(root: int, path: bytes) -> Iterator[int]:
    """Open a directory of a tree for the time of the block."""
    descriptor = open_directory(root, path)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def names_in(directory: int) -> list[bytes]:
    """Return the names in an open directory as bytes."""
    return [os.fsencode(name) for name in os.listdir(directory)]


def status_at(directory: int, name: bytes) -> os.stat_result | None:
    """Return the status of an entry itself, or None if it is not there."""
    try:
        return os.stat(name, dir_fd=directory, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return None


def handle(directory: int, name: bytes) -> bytes:
    """Return a short path for calls that take no directory descriptor (the xattr calls)."""
    return b"/proc/self/fd/%d/%s" % (directory, name)


def walk(root: int) -> Iterator[tuple[bytes, int, bytes, os.stat_result]]:
    """Yield (path, descriptor of the parent, name, status) of everything in a tree, parents before entries.

    The root comes first. The descriptor is open only until the next item is asked for.
    """
    yield b"", root, b".", os.stat(b".", dir_fd=root, follow_symlinks=False)
    pending = [b""]
    while pending:
        path = pending.pop()
        try:
            directory = open_directory(root, path)
        except (FileNotFoundError, NotADirectoryError):  # a program that still runs removed it meanwhile
            continue
        try:
            for name in names_in(directory):
                status = status_at(directory, name)
                if status is None:
                    continue
                child = join(path, name)
                yield child, directory, name, status
                if stat.S_ISDIR(status.st_mode):
                    pending.append(child)
        finally:
            os.close(directory)
