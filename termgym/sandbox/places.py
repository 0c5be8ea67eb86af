"""Places in a tree, reached from outside of it: found without opening what could wake or fool somebody."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator

from termgym.sandbox.reading import read_place
from termgym.sandbox.seen import FileStatus
from termgym.sandbox.syscalls import open_in_root

_KINDS = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "dir",
    stat.S_IFLNK: "symlink",
    stat.S_IFIFO: "fifo",
    stat.S_IFSOCK: "socket",
}
_NOT_THERE = (errno.ENXIO, errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EACCES, errno.ENAMETOOLONG, errno.EAGAIN)
_ATTEMPTS = 64
"""At finding a path while directories above it are renamed (EAGAIN, openat2(2)); the agent may do that without end."""


@contextlib.contextmanager
def found(root: int, path: str, flags: int = 0) -> Iterator[int | None]:
    """Yield a descriptor, which opens nothing yet, for a path below ``root``; None where nothing can be reached."""
    place = _find(root, path, flags)
    try:
        yield place
    finally:
        if place is not None:
            os.close(place)


def _find(root: int, path: str, flags: int) -> int | None:
    for _ in range(_ATTEMPTS):
        try:
            return open_in_root(root, path, os.O_PATH | flags)
        except ValueError:  # no name of a file can hold that
            return None
        except OSError as error:
            if error.errno not in _NOT_THERE:
                raise
            if error.errno != errno.EAGAIN:
                return None
    return None


def status(root: int, path: str) -> FileStatus | None:
    """Return what is at a path, a link itself; None if nothing is."""
    with found(root, path, os.O_NOFOLLOW) as place:
        if place is None:
            return None
        seen = os.fstat(place)
    kind = _KINDS.get(stat.S_IFMT(seen.st_mode), "device")
    return FileStatus(kind, stat.S_IMODE(seen.st_mode), seen.st_size, seen.st_uid, seen.st_gid)


def content(root: int, path: str, limit: int) -> bytes | None:
    """Return the first ``limit`` bytes of an ordinary file.

    The kernel's own files (/proc) are none: their reader would be us, who may read more of them than the agent.
    """
    with found(root, path) as place:
        if place is None:
            return None
        # Looked at before it is opened: opening a FIFO would wake its writer, opening a device may do anything.
        seen = os.fstat(place)
        return read_place(place, limit) if stat.S_ISREG(seen.st_mode) and seen.st_dev != _proc(root) else None


def _proc(root: int) -> int | None:
    """Return the device number of the tree's /proc, if there is one."""
    with found(root, "/proc") as place:
        return None if place is None else os.fstat(place).st_dev


def link_target(root: int, path: str) -> str | None:
    """Return where the symbolic link at a path leads, as it is written; None if there is no link."""
    with found(root, path, os.O_NOFOLLOW) as place:
        if place is None:
            return None
        try:
            return os.readlink("", dir_fd=place)
        except OSError:
            return None
