"""The first moments of a sandbox: who its processes are, and what it says if it does not come up."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import time

from termgym.errors import SandboxError
from termgym.sandbox.processes import children
from termgym.terminal import Spawned

START_DEADLINE = 20.0  # [s]; a start takes milliseconds, but a loaded machine may take its time


def read_child_pid(fd: int, shell: Spawned) -> int:
    """Return the pid of the sandbox's pid 1 from bubblewrap's --info-fd, which comes in pieces."""
    text = b""
    end = time.monotonic() + START_DEADLINE
    while b"}" not in text:
        ready, _, _ = select.select([fd], [], [], max(0.0, end - time.monotonic()))
        data = os.read(fd, 4096) if ready else b""
        if not data:
            raise SandboxError(f"bubblewrap did not start the sandbox: {_complaint(shell)}")
        text += data
    return int(json.loads(text)["child-pid"])


def first_child(init: int, shell: Spawned) -> int:
    """Return the pid of the shell: the first child of the sandbox's pid 1, once the sandbox is built."""
    end = time.monotonic() + START_DEADLINE
    while not (found := children(init)):
        if time.monotonic() > end or shell.process.poll() is not None:
            raise SandboxError(f"bubblewrap did not start the shell: {_complaint(shell)}")
        time.sleep(0.0002)
    return found[0]


def _complaint(shell: Spawned) -> str:
    """Return what the dying process wrote to its terminal."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        shell.process.wait(1.0)
    os.set_blocking(shell.main_fd, False)
    try:
        return os.read(shell.main_fd, 4096).decode("utf-8", "replace").strip() or "no message"
    except OSError:
        return "no message"
