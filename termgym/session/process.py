"""Single facts about processes, from /proc."""

from __future__ import annotations

import os
from typing import NamedTuple

_TICK = os.sysconf("SC_CLK_TCK")


class ProcessStat(NamedTuple):
    """The part of /proc/PID/stat that terminals care about (proc(5))."""

    pid: int
    state: str
    parent: int
    group: int
    session: int
    terminal: int
    """Device number of the controlling terminal, 0 without one."""


def read_stat(pid: int) -> ProcessStat | None:
    """Return a process's status, or None if there is none of that number."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            text = file.read()
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, parent, group, session, terminal = text[text.rindex(b")") + 2 :].split(None, 5)[:5]
    return ProcessStat(pid, state.decode(), int(parent), int(group), int(session), int(terminal) & 0xFFFFFFFF)


def processor_time(pid: int) -> float:
    """Return how long a process has been on a processor [s], to hundredths; 0 if there is none of that number."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            text = file.read()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    user, system = text[text.rindex(b")") + 2 :].split()[11:13]
    return (int(user) + int(system)) / _TICK


def all_pids() -> list[int]:
    """Return every process that this process can see."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]
