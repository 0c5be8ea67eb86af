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
from termgym.session.terminal import (
    ERROR_FD,
    MAIN_FD,
    REPORT_FD,
    SCRIPT_FD,
    SHELL,
    open_pty,
    reserved_numbers,
    set_raw,
    set_screen,
    shell_environment,
)

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
        theirs.enter_context(reserved_numbers())
        pairs = [open_pty(ptmx, ours, theirs) for _ in range(3)]
        (command, command_end), (main, main_end), (error, error_end) = pairs
        report, report_end = os.pipe2(os.O_CLOEXEC)
        ours.callback(os.close, report)
        theirs.callback(os.close, report_end)
        script = os.memfd_create("script", os.MFD_CLOEXEC)
        ours.callback(os.close, script)
        set_raw(command_end)
        for end in (main_end, error_end):
            set_screen(end)
        if owner is not None:
            for end in (command_end, main_end, error_end):
                os.fchown(end, *owner)
        for fd in (command, main, error, report):
            os.set_blocking(fd, False)
        number = struct.unpack("i", fcntl.ioctl(main, _TIOCGPTN, b"\0" * 4))[0]
        streams = {0: command_end, REPORT_FD: report_end, SCRIPT_FD: script, MAIN_FD: main_end, ERROR_FD: error_end}
        process = spawn(
            [*prefix, *SHELL],
            shell_environment(env),
            {**streams, **files},
            terminal=f"{_slaves_of(ptmx)}/{number}",
        )
        ours.pop_all()
    return Shell(process, command, main, error, report, script)


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
