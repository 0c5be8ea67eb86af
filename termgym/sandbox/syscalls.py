"""The few system calls that Python 3.11 does not wrap: namespaces, mounts, and paths that cannot leave their root."""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from pathlib import Path

CLONE_NEWNS = 0x0002_0000  # linux/sched.h, as are the others
CLONE_NEWUTS = 0x0400_0000
CLONE_NEWIPC = 0x0800_0000
CLONE_NEWUSER = 0x1000_0000
CLONE_NEWPID = 0x2000_0000
CLONE_NEWNET = 0x4000_0000
MS_NOSUID = 2  # linux/mount.h
MS_NODEV = 4
MS_REC = 0x4000
MS_PRIVATE = 1 << 18
MNT_DETACH = 2
PR_SET_PDEATHSIG = 1  # linux/prctl.h
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
SECCOMP_MODE_FILTER = 2  # linux/seccomp.h
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
_PR_CAPBSET_DROP = 24
_CAPABILITIES = 64  # capabilities(7): the kernel has 41 as yet, and masks of 64 bits
_CAPABILITY_VERSION_3 = 0x2008_0522  # linux/capability.h
ADDR_NO_RANDOMIZE = 0x0004_0000  # linux/personality.h
RESOLVE_NO_SYMLINKS = 0x04
RESOLVE_NO_MAGICLINKS = 0x02  # linux/openat2.h
RESOLVE_IN_ROOT = 0x10
_OPENAT2 = 437  # the same number on every architecture that has it

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)
    return result


def unshare(flags: int) -> None:
    """Leave namespaces of the kinds in ``flags`` for new ones."""
    _checked(_libc.unshare(ctypes.c_int(flags)), f"unshare {flags:#x}")


def enter(pidfd: int, flags: int) -> None:
    """Join the namespaces of the kinds in ``flags`` of the process behind ``pidfd`` (Linux 5.8), or the one namespace
    that a descriptor of ``/proc/PID/ns/…`` stands for."""
    _checked(_libc.setns(ctypes.c_int(pidfd), ctypes.c_int(flags)), f"setns {flags:#x}")


def mount(source: str, target: str | Path, kind: str | None, flags: int = 0, data: str | None = None) -> None:
    """Mount ``source`` on ``target``."""
    result = _libc.mount(
        os.fsencode(source),
        os.fsencode(target),
        kind.encode() if kind else None,
        ctypes.c_ulong(flags),
        data.encode() if data else None,
    )
    _checked(result, f"mount {kind} on {target}")


def umount(target: str | Path, flags: int = 0) -> None:
    """Unmount ``target``."""
    _checked(_libc.umount2(os.fsencode(target), ctypes.c_int(flags)), f"umount {target}")


def prctl(option: int, value: int = 0) -> None:
    """Set one attribute of this process."""
    zero = ctypes.c_ulong(0)
    _checked(_libc.prctl(ctypes.c_int(option), ctypes.c_ulong(value), zero, zero, zero), f"prctl {option}")


def ptrace(request: int, tid: int, data: int = 0) -> None:
    """Do what ``request`` says to a thread (ptrace(2)); one thread of the caller must do all of it."""
    arguments = (ctypes.c_long(request), ctypes.c_long(tid), ctypes.c_void_p(0), ctypes.c_void_p(data))
    _checked(_libc.ptrace(*arguments), f"ptrace {request:#x} {tid}")


def drop_bounding(kept: int) -> None:
    """Let no program that this process starts have a capability that is not in the mask ``kept``."""
    for number in range(_CAPABILITIES):
        if not kept >> number & 1:
            try:
                prctl(_PR_CAPBSET_DROP, number)
            except OSError as error:
                if error.errno != errno.EINVAL:  # this kernel has fewer
                    raise


def set_capabilities(mask: int) -> None:
    """Leave this process the capabilities in a mask, permitted and effective; none of them inheritable."""
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    low, high = mask & 0xFFFF_FFFF, mask >> 32
    data = struct.pack("=6I", low, low, 0, high, high, 0)
    _checked(_libc.capset(header, data), "capset")


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("lines", ctypes.c_char_p))


def set_filter(program: bytes) -> None:
    """Put this process and what it starts under a seccomp filter; PR_SET_NO_NEW_PRIVS must be set."""
    wanted = _Filter(len(program) // 8, program)
    zero = ctypes.c_ulong(0)
    mode = ctypes.c_ulong(SECCOMP_MODE_FILTER)
    _checked(_libc.prctl(ctypes.c_int(PR_SET_SECCOMP), mode, ctypes.byref(wanted), zero, zero), "prctl seccomp")


def disable_address_randomisation() -> str | None:
    """Give every program that this process starts from now on the same addresses each time (``setarch -R``).

    Returns:
        Why that is not allowed (a container's filter of system calls may refuse it), or None.
    """
    current = _libc.personality(ctypes.c_ulong(0xFFFF_FFFF))
    try:
        _checked(_libc.personality(ctypes.c_ulong(current | ADDR_NO_RANDOMIZE)), "personality")
    except PermissionError as error:
        return str(error)
    return None


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def open_in_root(root_fd: int, path: str, flags: int, *, follow: bool = True) -> int:
    """Open ``path`` as if ``root_fd`` were ``/``: neither ``..`` nor a symbolic link leads out of it.

    Args:
        root_fd: the directory.
        path: from there.
        flags: of open(2).
        follow: symbolic links; if not, one anywhere in the path is an error (ELOOP).

    Returns:
        A new file descriptor.

    Raises:
        OSError: as open(2).
        ValueError: no file can have that name (a NUL, a lone surrogate).
    """
    if "\0" in path:
        raise ValueError(f"path {path!r} holds a NUL")
    resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | (0 if follow else RESOLVE_NO_SYMLINKS)
    how = _OpenHow(flags | os.O_CLOEXEC, 0, resolve)
    result = _libc.syscall(
        ctypes.c_long(_OPENAT2),
        ctypes.c_int(root_fd),
        os.fsencode(path),
        ctypes.byref(how),
        ctypes.c_size_t(ctypes.sizeof(how)),
    )
    return _checked(int(result), path)
