"""Read what the agent wrote, without trusting it."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from termgym.sandbox.syscalls import open_in_root

_NOT_THERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.EACCES, errno.EAGAIN)
_REFUSED = (errno.EACCES, errno.EAGAIN)
_KERNELS_OWN = ("/proc/", "/sys/")


def look_up(tree: Path, path: str) -> os.stat_result | None:
    """Return the status of an agent path in a tree; None if nothing is there, or a symbolic link is on the way."""
    root = os.open(tree, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        place = open_in_root(root, path, os.O_PATH | os.O_NOFOLLOW, follow=False)
    except OSError as error:
        if error.errno in _NOT_THERE:
            return None
        raise
    finally:
        os.close(root)
    try:
        return os.fstat(place)
    finally:
        os.close(place)


def find_program(tree: Path, path: str, name: str) -> str | None:
    """Return where a program lies that is found by a PATH in a tree, links followed; None if there is none."""
    root = os.open(tree, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for directory in path.split(":"):
            try:
                place = open_in_root(root, f"{directory}/{name}", os.O_PATH)
            except (OSError, ValueError):
                continue
            try:
                found = os.fstat(place)
                if stat.S_ISREG(found.st_mode) and found.st_mode & 0o111:
                    return os.readlink(f"/proc/self/fd/{place}")
            finally:
                os.close(place)
    finally:
        os.close(root)
    return None


def read_place(place: int, limit: int) -> bytes | None:
    """Return up to ``limit`` bytes of the regular file that an O_PATH descriptor stands for.

    None if it cannot be opened now: this user may not read it, or somebody holds a lease on it (fcntl(2)), which would
    keep an ordinary open waiting for as long as /proc/sys/fs/lease-break-time. None, too, for the kernel's own files:
    it answers what the reader may see, and we may see more than the agent.
    """
    link = f"/proc/self/fd/{place}"
    if os.readlink(link).startswith(_KERNELS_OWN):
        return None
    try:
        fd = os.open(link, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in _REFUSED:
            return None
        raise
    try:
        data = bytearray()
        while len(data) < limit and (piece := os.read(fd, limit - len(data))):
            data += piece
        return bytes(data)
    finally:
        os.close(fd)
