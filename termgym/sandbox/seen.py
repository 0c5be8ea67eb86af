"""What can be seen of a sandbox from outside: figures, files, processes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Metrics(NamedTuple):
    """What the last step cost. Volatile: never part of an observation or of ``info`` by default."""

    cpu_s: float | None
    """CPU time of all processes since the step began [s]."""
    peak_bytes: int | None
    """Highest memory use of all processes together since the step began [bytes]."""
    io_bytes: int | None
    """Bytes read and written on block devices since the step began [bytes]."""
    oom_kills: int = 0
    """Processes that the kernel killed for memory since the step began."""
    source: str = "none"
    """Where the figures come from: ``cgroup-v2``, ``cgroup-v1``, ``proc`` or ``none``."""


@dataclass(frozen=True, slots=True)
class FileStatus:
    """One path as a check sees it (not following a final symbolic link)."""

    kind: str
    """``file``, ``dir``, ``symlink``, ``fifo``, ``socket`` or ``device``."""
    mode: int
    """Permission bits, set-id and sticky included."""
    size: int
    """[bytes]"""
    uid: int
    gid: int


@dataclass(frozen=True, slots=True)
class Process:
    """One process of the sandbox, seen from outside."""

    pid: int
    """As the agent sees it."""
    argv: tuple[str, ...]
    state: str
    """One letter, as in /proc/PID/stat."""
