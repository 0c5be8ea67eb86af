"""Reading what its owner made unreadable, without root's powers, and leaving it as it was."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

from termgym.snapshot.walking import join, names_in, open_directory, opened, opened_root, split, status_at

_GONE = (FileNotFoundError, NotADirectoryError)  # what a program that still runs does to a path
_CAP_DAC_OVERRIDE = 1 << 1  # capabilities(7)


def overrides_modes() -> bool:
    """Return whether file modes do not bind this process."""
    return _may_override(os.getpid(), os.geteuid())


@lru_cache(maxsize=2)
def _may_override(_process: int, _user: int) -> bool:
    """Ask the kernel once a process and user: a child may have entered a user namespace before it asks."""
    with open("/proc/self/status", "rb") as lines:
        effective = next(line for line in lines if line.startswith(b"CapEff:"))
    return bool(int(effective.split()[1], 16) & _CAP_DAC_OVERRIDE)


@contextmanager
def unlocked(tree: Path, known: Iterable[bytes] | None = None) -> Iterator[dict[bytes, int]]:
    """Make a tree readable for the time of the block, and yield the modes that had to be changed, as they were.

    Args:
        tree: the root of the tree.
        known: the paths that are unreadable, where that is known; else the tree is searched.
    """
    if overrides_modes():
        yield {}
        return
    with opened_root(tree) as root:
        modes = unlock(root, known)
    try:
        yield modes
    finally:
        with opened_root(tree) as root:
            relock(root, modes)


def unlock(root: int, known: Iterable[bytes] | None = None) -> dict[bytes, int]:
    """Give the owner read access to a whole tree (and search, for directories); return the modes that were changed."""
    modes: dict[bytes, int] = {}
    if known is not None:
        for path in known:
            _unlock_path(root, path, modes)
        return modes
    _unlock_entry(root, b".", b"", os.stat(b".", dir_fd=root), modes)
    pending = [b""]
    while pending:
        path = pending.pop()
        try:
            directory = open_directory(root, path)
        except _GONE:
            continue
        try:
            for name in names_in(directory):
                status = status_at(directory, name)
                if status is None:
                    continue
                child = join(path, name)
                _unlock_entry(directory, name, child, status, modes)
                if stat.S_ISDIR(status.st_mode):
                    pending.append(child)
        finally:
            os.close(directory)
    return modes


def relock(root: int, modes: Mapping[bytes, int]) -> None:
    """Set modes back, entries before the directories that close over them."""
    for path in reversed(list(modes)):
        _set_mode(root, path, modes[path])


def _unlock_path(root: int, path: bytes, modes: dict[bytes, int]) -> None:
    parent, name = split(path)
    with opened(root, parent) as directory:
        status = status_at(directory, name or b".")
        if status is not None:
            _unlock_entry(directory, name or b".", path, status, modes)


def _unlock_entry(directory: int, name: bytes, path: bytes, status: os.stat_result, modes: dict[bytes, int]) -> None:
    needed = {stat.S_IFDIR: stat.S_IRWXU, stat.S_IFREG: stat.S_IRUSR}.get(stat.S_IFMT(status.st_mode), 0)
    if status.st_mode & needed != needed:
        with suppress(*_GONE):
            os.chmod(name, stat.S_IMODE(status.st_mode) | needed, dir_fd=directory)
            modes[path] = status.st_mode


def _set_mode(root: int, path: bytes, mode: int) -> None:
    """Set a mode, unless the path is gone."""
    parent, name = split(path)
    with suppress(*_GONE), opened(root, parent) as directory:
        os.chmod(name or b".", stat.S_IMODE(mode), dir_fd=directory)
