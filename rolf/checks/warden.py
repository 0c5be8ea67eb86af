"""Warden: the process above the one that may leak; it adopts what leaves its parents, and ends it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import tempfile
import time
from pathlib import Path

from rolf.checks.holdings import children
from rolf.checks.leaks import GLANCE, ROUNDS, SURVIVORS, WAYS, Counted
from rolf.checks.process import FreshProcess
from rolf.checks.trial import Trial

PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


def main(request: tuple[Trial, float]) -> Counted:
    """Have the leaks counted in a process of their own, with a directory for temporary files of its own."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER) failed")
    with tempfile.TemporaryDirectory(prefix="rolf-check-") as scratch:
        try:
            with FreshProcess("rolf.checks.leaks", request, {"TMPDIR": scratch}) as process:
                left, calls = process.result()
            survivors = _adopted(request[1])
        finally:
            _end()
    if len(survivors) >= ROUNDS and not any("processes" in kinds for kinds in left.values()):
        left.setdefault(WAYS[0], {})[SURVIVORS] = survivors
    return left, calls


def _adopted(patience: float) -> list[str]:
    """Return the processes that are still there after a while, in words."""
    begun = time.monotonic()
    while _living() and time.monotonic() - begun < patience:
        time.sleep(GLANCE)
    words = {pid: Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ") for pid in _living()}
    return [f"{pid} ({said.decode(errors='replace').strip()[:100]})" for pid, said in words.items()]


def _living() -> list[int]:
    """Return the children of this process, after waiting for those that have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return children(os.getpid())


def _end() -> None:
    """End whatever is still there; what its death hands over to this process too."""
    while living := _living():
        for pid in living:
            os.kill(pid, signal.SIGKILL)
        time.sleep(GLANCE)
