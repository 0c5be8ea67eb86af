"""Let the machine under this process's terminals fail."""

from __future__ import annotations

import os
import signal
import time

import psutil


def kill_supervisor() -> None:
    """Kill what supervises them with -9, and wait until the kernel has killed all shells with it."""
    children = psutil.Process().children()
    supervisors = [
        each for each in children if each.status() != psutil.STATUS_ZOMBIE and "termgym" in " ".join(each.cmdline())
    ]
    below = [each for supervisor in supervisors for each in (supervisor, *supervisor.children(recursive=True))]
    for each in supervisors:
        os.kill(each.pid, signal.SIGKILL)
    end = time.monotonic() + 20
    while any(each.is_running() and each.status() != psutil.STATUS_ZOMBIE for each in below):
        assert time.monotonic() < end, "what the kernel kills with the supervisor goes at once"
        time.sleep(0.01)
