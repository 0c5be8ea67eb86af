"""System calls that no agent needs and that reach past its namespaces, refused by a seccomp filter.

What is refused, and why: new user namespaces (inside one anybody may mount a tmpfs of any size or a devpts of his own,
and most holes of the kernel open up), the keyrings (they belong to a user of the host, not to a sandbox), sockets of
families that no network namespace holds (vsock talks to the hypervisor), io_uring (it would do the same past any
filter), userfaultfd (a page that answers late keeps its readers waiting), bpf, perf and the kernel's log. Docker's
default profile refuses the same. ptrace(2) stays allowed: debuggers are an agent's tools.
"""

from __future__ import annotations

import errno
import platform
import struct
from typing import NamedTuple

from termgym.sandbox import syscalls
from termgym.sandbox.offspring import finish, fork

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # linux/bpf_common.h
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data, linux/seccomp.h
_ALLOW, _ERROR = 0x7FFF_0000, 0x0005_0000
_X32 = 0x4000_0000  # the other calling convention of x86-64 has this bit in its numbers
_FAMILIES = (1, 2, 10, 16)  # unix, inet, inet6, netlink: linux/socket.h


class _Calls(NamedTuple):
    """Numbers of one architecture: asm/unistd.h, linux/audit.h."""

    architecture: int
    clone: int
    clone3: int
    unshare: int
    socket: int
    refused: tuple[int, ...]
    """add_key, request_key, keyctl, io_uring_setup, userfaultfd, bpf, perf_event_open, syslog."""


_CALLS = {
    "x86_64": _Calls(0xC000_003E, 56, 435, 272, 41, (248, 249, 250, 425, 323, 321, 298, 103)),
    "aarch64": _Calls(0xC000_00B7, 220, 435, 97, 198, (217, 218, 219, 425, 282, 280, 241, 116)),
}


def program(machine: str) -> bytes | None:
    """Return the filter as the kernel reads it (struct sock_filter), or None for an architecture without a table."""
    calls = _CALLS.get(machine)
    if calls is None:
        return None
    lines = [(_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 1, 0, calls.architecture), _refuse(errno.ENOSYS)]
    lines += [(_LOAD, 0, 0, _NUMBER), (_AT_LEAST, 0, 1, _X32), _refuse(errno.ENOSYS)]
    # glibc falls back to clone, whose flags can be looked at; clone3 has them in memory.
    lines += [(_EQUAL, 0, 1, calls.clone3), _refuse(errno.ENOSYS)]
    for number in calls.refused:
        lines += [(_EQUAL, 0, 1, number), _refuse(errno.EPERM)]
    for number in (calls.clone, calls.unshare):
        lines += [
            (_EQUAL, 0, 4, number),
            (_LOAD, 0, 0, _FIRST_ARGUMENT),
            (_ANY_BIT, 0, 1, syscalls.CLONE_NEWUSER),
            _refuse(errno.EPERM),
            _ALLOWED,
        ]
    lines += [(_EQUAL, 0, len(_FAMILIES) + 2, calls.socket), (_LOAD, 0, 0, _FIRST_ARGUMENT)]
    lines += [(_EQUAL, len(_FAMILIES) - index, 0, family) for index, family in enumerate(_FAMILIES)]
    lines += [_refuse(errno.EAFNOSUPPORT), _ALLOWED]
    return b"".join(struct.pack("HBBI", *line) for line in lines)


_ALLOWED = (_RETURN, 0, 0, _ALLOW)


def _refuse(error: int) -> tuple[int, int, int, int]:
    return (_RETURN, 0, 0, _ERROR | error)


def probe() -> tuple[bytes | None, str | None]:
    """Return the filter that works here, or None and why there is none: a child tried it."""
    wanted = program(platform.machine())
    if wanted is None:
        return None, f"no table of system calls for {platform.machine()!r}"

    def try_it() -> int:
        try:
            syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
            syscalls.set_filter(wanted)
            syscalls.unshare(syscalls.CLONE_NEWUSER)
        except PermissionError:
            return 0
        return 1

    if finish(fork(try_it)) == 0:
        return wanted, None
    return None, "the kernel takes no seccomp filter, or it does not take effect"
