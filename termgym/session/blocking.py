"""What system call the threads of a process are blocked in, and on which descriptors."""

from __future__ import annotations

import os
import platform
import struct
from collections.abc import Mapping
from typing import NamedTuple

PTMX = os.makedev(5, 2)  # /dev/ptmx: the master side of a pty
_MOST_THREADS = 16  # a program that reads keys does so in one of its first threads
_MOST_POLLED = 256
_POLLIN = 0x001
_EPOLL_ANONYMOUS = "anon_inode:"

# Numbers from asm/unistd_64.h and asm-generic/unistd.h.
_READS = {"x86_64": {0, 17, 19}, "aarch64": {63, 65, 67}}
_POLLS: Mapping[str, Mapping[int, str]] = {
    "x86_64": {7: "poll", 271: "poll", 23: "select", 270: "select", 232: "epoll", 281: "epoll", 441: "epoll"},
    "aarch64": {73: "poll", 72: "select", 22: "epoll", 441: "epoll"},
}
_WAITS = {"x86_64": {61, 247}, "aarch64": {95, 260}}
_MACHINE = platform.machine()


class Blocked(NamedTuple):
    """One thread's system call."""

    reads: bool = False
    """Blocked in a read of the one descriptor in ``fds``."""
    polls: bool = False
    """Blocked in poll, select or epoll for input on ``fds``."""
    waits: bool = False
    """Blocked until a child ends."""
    fds: tuple[int, ...] = ()


def blocked_threads(pid: int) -> list[Blocked]:
    """Return what the threads of a process are blocked in; a running one, or one we may not look at, is left out."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []  # ended
    found = (_blocked(pid, thread) for thread in threads[:_MOST_THREADS])
    return [call for call in found if call is not None]


def read_call(pid: int) -> tuple[int, int, int] | None:
    """Return descriptor, buffer address and size of the read that a process's main thread is blocked in, if it is."""
    words = _system_call(pid, str(pid))
    if not words or int(words[0]) not in _READS.get(_MACHINE, ()):
        return None
    return int(words[1], 16), int(words[2], 16), int(words[3], 16)


def _system_call(pid: int, thread: str) -> list[bytes]:
    """Return number and arguments of the system call that a thread is blocked in, nothing if there is none."""
    try:
        with open(f"/proc/{pid}/task/{thread}/syscall", "rb") as file:
            words = file.read().split()
    except OSError:
        return []  # ended, or set-id: not ours to look at
    return words if len(words) >= 7 else []  # running, or blocked outside a system call


def _blocked(pid: int, thread: str) -> Blocked | None:
    words = _system_call(pid, thread)
    if not words:
        return None
    number, arguments = int(words[0]), [int(word, 16) for word in words[1:7]]
    if number in _READS.get(_MACHINE, ()):
        return Blocked(reads=True, fds=(arguments[0],))
    if number in _WAITS.get(_MACHINE, ()):
        return Blocked(waits=True)
    kind = _POLLS.get(_MACHINE, {}).get(number)
    return None if kind is None else Blocked(polls=True, fds=_polled(pid, kind, arguments))


def _polled(pid: int, kind: str, arguments: list[int]) -> tuple[int, ...]:
    """Return the descriptors that a call waits for input on."""
    try:
        if kind == "epoll":
            return _polled_by_epoll(pid, arguments[0])
        if kind == "poll":
            count = min(arguments[1], _MOST_POLLED)
            entries = struct.iter_unpack("ihh", _memory(pid, arguments[0], 8 * count))
            return tuple(fd for fd, events, _ in entries if fd >= 0 and events & _POLLIN)
        count = min(arguments[0], 1024)
        if arguments[1] == 0:
            return ()
        bits = int.from_bytes(_memory(pid, arguments[1], (count + 63) // 64 * 8), "little")
        return tuple(fd for fd in range(count) if bits >> fd & 1)
    except OSError:
        return ()  # ended meanwhile


def _polled_by_epoll(pid: int, epoll: int) -> tuple[int, ...]:
    """Return what an epoll instance watches, event loops' own wake-up descriptors left out."""
    fds = []
    with open(f"/proc/{pid}/fdinfo/{epoll}", encoding="ascii") as file:
        for line in file:
            if line.startswith("tfd:"):
                words = line.split()
                fd, events = int(words[1]), int(words[3], 16)
                if events & _POLLIN and not _is_internal(pid, fd):
                    fds.append(fd)
    return tuple(fds)


def _is_internal(pid: int, fd: int) -> bool:
    try:
        return os.readlink(f"/proc/{pid}/fd/{fd}").startswith((_EPOLL_ANONYMOUS, "pipe:"))
    except OSError:
        return True  # closed meanwhile


def _memory(pid: int, address: int, size: int) -> bytes:
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as file:
        return os.pread(file.fileno(), size, address)
