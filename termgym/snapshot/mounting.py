"""mount(2) and umount2(2), and whether this process may use them without anybody else noticing."""

from __future__ import annotations

import ctypes
import os

MS_RDONLY = 0x1  # linux/mount.h
MS_NOSUID = 0x2
MS_NODEV = 0x4
MNT_DETACH = 0x2

_LIBC = ctypes.CDLL(None, use_errno=True)
_OPTIONS_LIMIT = 4095  # mount(2): the options are one page, the final NUL included


def mount(source: str, target: bytes, kind: str, flags: int, options: bytes) -> None:
    """Mount a filesystem.

    Raises:
        OSError: with the kernel's errno and the target in it.
    """
    if len(options) > _OPTIONS_LIMIT:
        raise OSError(
            f"mount options are {len(options)} bytes, allowed are {_OPTIONS_LIMIT}; use shorter directory names"
        )
    status = _LIBC.mount(source.encode(), target, kind.encode(), ctypes.c_ulong(flags), options)
    if status:
        code = ctypes.get_errno()
        raise OSError(code, f"mount {kind}: {os.strerror(code)}", os.fsdecode(target))


def unmount(target: bytes) -> None:
    """Take a mount away at once; what still holds a file of it keeps that file and never sees the next mount."""
    if _LIBC.umount2(target, MNT_DETACH):
        code = ctypes.get_errno()
        raise OSError(code, f"umount: {os.strerror(code)}", os.fsdecode(target))


def option_value(path: bytes) -> bytes:
    """Return a path as overlay's option parser wants it: it takes ``,`` as the end and ``:`` as a separator."""
    return path.replace(b"\\", b"\\\\").replace(b":", b"\\:").replace(b",", b"\\,")


def mount_options(target: bytes) -> frozenset[bytes]:
    """Return the options in effect for the last mount on a path."""
    shown = target.replace(b"\\", b"\\134").replace(b" ", b"\\040").replace(b"\t", b"\\011").replace(b"\n", b"\\012")
    with open("/proc/self/mounts", "rb") as table:
        rows = [row.split(b" ") for row in table]
    found = [row[3] for row in rows if row[1] == shown]
    return frozenset(found[-1].split(b",")) if found else frozenset()


def shares_mounts() -> bool:
    """Return whether mounts made here would appear in the mount namespace of the system or of the parent process."""
    own = os.readlink("/proc/self/ns/mnt")
    return {_namespace(1), _namespace(os.getppid())} - {None} == {own}


def _namespace(pid: int) -> str | None:
    """Return the mount namespace of a process, or None where the kernel does not let us look."""
    try:
        return os.readlink(f"/proc/{pid}/ns/mnt")
    except (PermissionError, FileNotFoundError):
        return None
