"""The inode flags that stop even root from writing: ``chattr +i`` and ``chattr +a``."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import struct

_GET, _SET = 0x80086601, 0x40086602  # FS_IOC_GETFLAGS, FS_IOC_SETFLAGS: linux/fs.h, 64-bit
_STOPPERS = 0x10 | 0x20  # FS_IMMUTABLE_FL, FS_APPEND_FL
_NO_FLAGS = frozenset({errno.ENOTTY, errno.EOPNOTSUPP, errno.EINVAL})


def clear_flags(directory: int, name: bytes, mode: int) -> None:
    """Take the immutable and append-only flags off a file or directory, where the filesystem has such flags."""
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        return
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=directory)
    try:
        packed = fcntl.ioctl(descriptor, _GET, bytes(8))
        flags = struct.unpack("=Q", packed)[0]
        if flags & _STOPPERS:
            fcntl.ioctl(descriptor, _SET, struct.pack("=Q", flags & ~_STOPPERS))
    except OSError as error:
        if error.errno not in _NO_FLAGS:
            raise
    finally:
        os.close(descriptor)
