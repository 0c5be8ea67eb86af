"""Processes seen from outside the sandbox, through the host's /proc."""

from __future__ import annotations

import os
from collections.abc import Iterable

from termgym.sandbox.seen import Process


def children(pid: int) -> list[int]:
    """Return the direct children of a process; empty if it is gone."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", "rb") as file:
            return [int(child) for child in file.read().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def is_zombie(pid: int) -> bool:
    """Return whether a process has ended, collected or not."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rsplit(b")", 1)[1].split()[0] == b"Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def inner_pid(pid: int) -> int:
    """Return the pid that a process has in its own namespace: ``pid`` itself outside of sandboxes, or if it is gone."""
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            return int(next(line for line in file if line.startswith(b"NSpid:")).split()[-1])
    except (FileNotFoundError, ProcessLookupError):
        return pid


def inhabitants(init: int, group: str | None) -> list[int]:
    """Return every process of a sandbox but its pid 1.

    The lists of children in /proc miss a process that is just changing parents (proc(5)), so they do not do here.

    Args:
        init: the sandbox's pid 1.
        group: the directory of its control group, if it has one: reading that costs least.
    """
    if group is not None:
        try:
            with open(f"{group}/cgroup.procs", "rb") as file:
                return [pid for pid in map(int, file.read().split()) if pid != init]
        except FileNotFoundError:
            return []
    try:
        space = os.stat(f"/proc/{init}/ns/pid").st_ino
    except (FileNotFoundError, ProcessLookupError):
        return []
    return [pid for pid in _all_pids() if pid != init and _lives_in(pid, space)]


def _all_pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _lives_in(pid: int, space: int) -> bool:
    try:
        return os.stat(f"/proc/{pid}/ns/pid").st_ino == space
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return False  # gone, or another user's


def descendants(pid: int) -> list[int]:
    """Return the descendants of a process, parents first; one that is just changing parents may be missed."""
    found: list[int] = []
    todo = [pid]
    while todo:
        parent = todo.pop()
        for thread in _threads(parent):
            try:
                with open(f"/proc/{parent}/task/{thread}/children", "rb") as file:
                    new = [int(child) for child in file.read().split()]
            except (FileNotFoundError, ProcessLookupError):
                continue
            found += new
            todo += new
    return found


def _threads(pid: int) -> list[str]:
    try:
        return os.listdir(f"/proc/{pid}/task")
    except (FileNotFoundError, ProcessLookupError):
        return []


def look(pids: Iterable[int]) -> tuple[Process, ...]:
    """Return what the processes are; those that end meanwhile are left out, zombies too."""
    seen = []
    for pid in pids:
        process = _look(pid)
        if process is not None and process.state != "Z":
            seen.append(process)
    return tuple(sorted(seen, key=lambda process: process.pid))


def _look(pid: int) -> Process | None:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            argv = tuple(os.fsdecode(word) for word in file.read().split(b"\0")[:-1])
        with open(f"/proc/{pid}/status", "rb") as file:
            fields = dict(line.split(b":", 1) for line in file.read().splitlines() if b":" in line)
    except (FileNotFoundError, ProcessLookupError):
        return None
    inner = int(fields[b"NSpid"].split()[-1])
    state = fields[b"State"].split()[0].decode()
    return Process(inner, argv or (os.fsdecode(fields[b"Name"].strip()),), state)


def listening_ports(pid: int) -> frozenset[int]:
    """Return the TCP ports on which something listens in the network namespace of ``pid``."""
    ports = set()
    for name in ("tcp", "tcp6"):
        try:
            with open(f"/proc/{pid}/net/{name}", "rb") as file:
                lines = file.read().splitlines()[1:]
        except (FileNotFoundError, ProcessLookupError):
            continue
        for line in lines:
            words = line.split()
            if words[3] == b"0A":  # TCP_LISTEN, include/net/tcp_states.h
                ports.add(int(words[1].rsplit(b":", 1)[1], 16))
    return frozenset(ports)
