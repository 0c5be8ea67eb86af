"""Offspring: forked children that run this package's own code. They end with their parent; none is awaited for ever."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

from termgym.errors import SandboxError
from termgym.sandbox import syscalls
from termgym.sandbox.death import KILL_DEADLINE, ended


def fork(act: Callable[[], int]) -> int:
    """Run ``act`` in a child, whose exit status is what that returns; return the child's pid.

    The kernel kills the child when its parent ends, or one of a parent that is killed would be left.
    """
    parent = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() == parent:
            status = act()
    finally:
        os._exit(status)


def finish(pid: int, seconds: float = KILL_DEADLINE) -> int:
    """Return how a child of ``fork`` ended (negative: by that signal); killed if it has not after ``seconds`` [s].

    Raises:
        SandboxError: not even that ended it (it is stuck in the kernel).
    """
    status = ended(pid, seconds)
    if status is None:
        os.kill(pid, signal.SIGKILL)
        status = ended(pid, KILL_DEADLINE)
    if status is None:
        raise SandboxError(f"process {pid} is still alive {KILL_DEADLINE:.0f} s after SIGKILL")
    return status
