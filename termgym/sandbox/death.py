"""The last moments of processes: killed until none is left, and collected."""

from __future__ import annotations

import contextlib
import os
import signal
import time

from termgym.errors import SandboxError
from termgym.sandbox.processes import children, descendants

KILL_DEADLINE = 10.0  # [s]
_LOOKS = 3  # one look may miss a process that is just changing parents


def kill_descendants(shell: int | None) -> None:
    """Kill every descendant of this process, which adopts orphans, until none but a dead ``shell`` is left."""
    end = time.monotonic() + KILL_DEADLINE
    empty_looks = 0
    while empty_looks < _LOOKS:
        left = [pid for pid in descendants(os.getpid()) if pid != shell or not _is_zombie(pid)]
        empty_looks = 0 if left else empty_looks + 1
        if time.monotonic() > end:
            raise SandboxError(f"processes {left} are still alive {KILL_DEADLINE:.0f} s after SIGKILL")
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in children(os.getpid()):
            if pid != shell:  # its status belongs to whoever waits for it
                collect(pid, os.WNOHANG)
        time.sleep(0.0005)


def collect(pid: int, options: int = 0) -> None:
    """Take the exit status of a child that this process adopted, if it is one."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, options)


def _is_zombie(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rsplit(b")", 1)[1].split()[0] == b"Z"
    except (FileNotFoundError, ProcessLookupError):
        return True
