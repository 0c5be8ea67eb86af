"""The last moments of processes: killed until none is left, and collected."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time

from termgym.errors import SandboxError
from termgym.sandbox.cgroups import Group
from termgym.sandbox.processes import children, descendants, inner_pid, is_zombie

KILL_DEADLINE = 10.0  # [s]
_LOOKS = 3  # one look may miss a process that is just changing parents
_FIRST_PAUSE, _LAST_PAUSE = 0.002, 0.05
"""Between two looks for what has to be collected before a child can end [s]."""


def kill_descendants(shell: int | None) -> None:
    """Kill every descendant of this process, which adopts orphans, until none but a dead ``shell`` is left."""
    end = time.monotonic() + KILL_DEADLINE
    empty_looks = 0
    while empty_looks < _LOOKS:
        left = [pid for pid in descendants(os.getpid()) if pid != shell or not is_zombie(pid)]
        empty_looks = 0 if left else empty_looks + 1
        if time.monotonic() > end:
            raise SandboxError(f"processes {left} are still alive {KILL_DEADLINE:.0f} s after SIGKILL")
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in children(os.getpid()):
            if pid != shell:  # its status belongs to whoever waits for it
                collect(pid)
        time.sleep(0.0005)


def empty(group: Group) -> None:
    """Kill what is in a control group until nothing is.

    Raises:
        SandboxError: something survived.
    """
    end = time.monotonic() + KILL_DEADLINE
    while left := group.processes():
        if time.monotonic() > end:
            raise SandboxError(f"processes {sorted(left)} are still alive {KILL_DEADLINE:.0f} s after SIGKILL")
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.001)


def ended(pid: int, seconds: float) -> int | None:
    """Return how a child ended (negative: by that signal), or None if it has not after ``seconds`` [s].

    A waitpid(2) that blocks may do so for ever. A dead child whom somebody traces is there for as long as the tracer
    likes (ptrace(2)); and the first process of a namespace ends after all others in it were collected, of which some
    may be this process's to collect (pid_namespaces(7)).

    Raises:
        ChildProcessError: it is no child of this process.
    """
    end = time.monotonic() + seconds
    status = _look_at(pid)
    if status is None and seconds > 0:
        gone = os.pidfd_open(pid)
        poll = select.poll()
        poll.register(gone, select.POLLIN)
        try:
            pause = _FIRST_PAUSE
            while status is None and (left := end - time.monotonic()) > 0:
                if poll.poll(min(left, pause) * 1000) and (status := _look_at(pid)) is None:
                    time.sleep(pause)
                _collect_strays(pid)
                pause = min(2 * pause, _LAST_PAUSE)
        finally:
            os.close(gone)
    return status


def _look_at(pid: int) -> int | None:
    found, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if found else None


def _collect_strays(awaited: int) -> None:
    """Collect who died inside a sandbox after its parent out here was killed, which left it to this process."""
    for pid in children(os.getpid()):
        if pid != awaited and is_zombie(pid) and inner_pid(pid) not in (pid, 1):
            collect(pid)


def collect(pid: int, seconds: float = 0.0) -> bool:
    """Take the exit status of a child that this process adopted; return whether there is none (any more).

    Args:
        pid: the child, if it is one.
        seconds: how long it may take to end [s].
    """
    try:
        return ended(pid, seconds) is not None
    except (ChildProcessError, ProcessLookupError):
        return True
