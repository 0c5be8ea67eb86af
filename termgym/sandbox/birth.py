"""The first moments of a sandbox: who its processes are, and what it says if it does not come up."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import struct
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from termgym.errors import SandboxError
from termgym.sandbox.child import Child, spawn
from termgym.sandbox.processes import children
from termgym.session.terminal import SHELL, open_ends, shell_environment

_TIOCGPTN = 0x80045430  # ioctl_tty(2): the number of a master's slave
START_DEADLINE = 20.0  # [s]; a start takes milliseconds, but a loaded machine may take its time


class Shell(NamedTuple):
    """A shell's process (or its launcher's) and our ends of its lines, as in ``termgym.session.terminal.Spawned``."""

    process: Child
    command_fd: int
    main_fd: int
    error_fd: int
    report_fd: int
    script_fd: int

    @property
    def lines(self) -> tuple[int, ...]:
        """Our ends, in the order above."""
        return self[1:]

    def hang_up(self) -> None:
        """Close our ends."""
        for fd in self.lines:
            os.close(fd)


def start_bash(
    prefix: Sequence[str], *, env: Mapping[str, str], ptmx: str, files: Mapping[int, int], owner: tuple[int, int] | None
) -> Shell:
    """Start an interactive bash on fresh ptys, with the same lines as ``terminal.spawn_bash`` but without a fork.

    Args:
        prefix: a launcher's argv, before ``bash …``.
        env: its environment.
        ptmx: the multiplexer to open, in a devpts instance.
        files: the launcher's further descriptors: its -> ours.
        owner: uid and gid that the slaves are given to.
    """
    with contextlib.ExitStack() as ours, contextlib.ExitStack() as theirs:
        ends = open_ends(ptmx, owner, ours, theirs)
        number = struct.unpack("i", fcntl.ioctl(ends.kept[1], _TIOCGPTN, b"\0" * 4))[0]
        slave = f"{_slaves_of(ptmx)}/{number}"
        process = spawn([*prefix, *SHELL], shell_environment(env), {**ends.given, **files}, terminal=slave)
        ours.pop_all()
    return Shell(process, *ends.kept)


def _slaves_of(ptmx: str) -> str:
    """Return the directory in which the slaves of a multiplexer appear."""
    return "/dev/pts" if ptmx == "/dev/ptmx" else os.path.dirname(ptmx)


def read_child_pid(fd: int, shell: Shell) -> int:
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


def first_child(init: int, shell: Shell) -> int:
    """Return the pid of the shell: the first child of the sandbox's pid 1, once the sandbox is built."""
    end = time.monotonic() + START_DEADLINE
    while not (found := children(init)):
        if time.monotonic() > end or shell.process.wait(0.0) is not None:
            raise SandboxError(f"bubblewrap did not start the shell: {_complaint(shell)}")
        time.sleep(0.0002)
    return found[0]


def _complaint(shell: Shell) -> str:
    """Return what the dying process wrote to its terminal."""
    shell.process.wait(1.0)
    os.set_blocking(shell.main_fd, False)
    try:
        return os.read(shell.main_fd, 4096).decode("utf-8", "replace").strip() or "no message"
    except OSError:
        return "no message"
