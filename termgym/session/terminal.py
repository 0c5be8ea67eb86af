"""Terminals: two ptys, a command line to drive the shell by, a report pipe, and a bash at their far end.

Standard library only: the supervisor imports this module without the rest of the package.

The shell's file descriptors are
    0    command socket: the lines that drive the shell
    1    main pty, the controlling terminal: what a person would see and type into
    2    main pty at first, where bash looks for its job-control terminal; the first line moves it to the error pty
    240  report pipe (write end)      241  memfd for long commands
    242  main pty again               243  error pty

The command line is a socket because a pty hands bytes on in a thread of the kernel, which costs a builtin step a third
of its time, and because nobody can open a socket a second time by its name in /proc, as they could a pipe.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import socket
import struct
import subprocess
import termios
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

TIOCSPTLCK = 0x40045431  # ioctl_tty(2): lock or unlock the slave
TIOCGPTPEER = 0x5441  # ioctl_tty(2): open the slave without its path, which another mount namespace may not have
REPORT_FD, SCRIPT_FD, MAIN_FD, ERROR_FD = 240, 241, 242, 243
ROWS, COLUMNS = 24, 80
SHELL = ("bash", "--norc", "--noprofile", "--noediting", "-i")
# Would end the shell, run code in it or make it talk before the first command (bash(1), "Shell Variables").
MEDDLING_VARIABLES = (
    "PROMPT_COMMAND",
    "TMOUT",
    "MAILCHECK",
    "BASH_ENV",
    "ENV",
    "PS0",
    "BASH_XTRACEFD",
    "SHELLOPTS",
    "BASHOPTS",
)

_spawning = threading.Lock()


class Terminal(NamedTuple):
    """Our ends of a shell's ptys and report pipe, and the ways to end it. Made by a sandbox, used by a Session."""

    command_fd: int
    """Our end of the socket that the shell reads its lines from (its fd 0)."""
    main_fd: int
    """Master of the controlling terminal (fd 1; keystrokes go here)."""
    error_fd: int
    """Master of the error pty (fd 2)."""
    report_fd: int
    """Read end of the report pipe (the shell's fd 240)."""
    script_fd: int
    """memfd shared with the shell (its fd 241) for commands too long to type."""
    shell_pid: int
    """The shell's pid as this process sees it."""
    wait: Callable[[float], int | None]
    """``wait(seconds)``: the shell's exit status (128 + signal), or None if it has not ended by then."""
    kill_all: Callable[[], None]
    """Kill every process of the sandbox; returns when none is left. The last rung of the ladder."""
    pids: Callable[[], Sequence[int]]
    """Every process of the sandbox as this process sees it, the shell included."""


class Spawned(NamedTuple):
    """A shell's process (or its launcher's) and our ends of its lines; the caller owns and closes the descriptors."""

    process: subprocess.Popen[bytes]
    command_fd: int
    main_fd: int
    error_fd: int
    report_fd: int
    script_fd: int


def spawn_bash(
    prefix: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str | None,
    ptmx: str = "/dev/ptmx",
    pass_fds: Sequence[int] = (),
    owner: tuple[int, int] | None = None,
    preexec: Callable[[], None] | None = None,
) -> Spawned:
    """Start an interactive bash on fresh ptys.

    Args:
        prefix: a launcher's argv, before ``bash …`` (empty: bash itself).
        cwd: working directory of the launcher.
        ptmx: the multiplexer to open; may belong to a private devpts instance.
        pass_fds: descriptors that stay open under the same number; none of 240 to 243.
        owner: uid and gid that the slaves are given to.
        preexec: runs in the child, last before exec.

    Raises:
        OSError: no pty left, or no program of that name.
    """
    if clash := {REPORT_FD, SCRIPT_FD, MAIN_FD, ERROR_FD}.intersection(pass_fds):
        raise ValueError(
            f"pass_fds: {sorted(clash)!r} belong to the shell's own lines (240 to 243); duplicate them to other numbers"
        )
    with _spawning, contextlib.ExitStack() as ours, contextlib.ExitStack() as theirs:
        ends = open_ends(ptmx, owner, ours, theirs)
        process = subprocess.Popen(
            [*prefix, *SHELL],
            stdin=ends.given[0],
            stdout=ends.given[MAIN_FD],
            stderr=ends.given[MAIN_FD],
            pass_fds=(REPORT_FD, SCRIPT_FD, MAIN_FD, ERROR_FD, *pass_fds),
            start_new_session=True,
            preexec_fn=_attach(ends.given, preexec),
            env=shell_environment(env),
            cwd=cwd,
        )
        ours.pop_all()
    return Spawned(process, *ends.kept)


class Ends(NamedTuple):
    """Both ends of a shell's lines."""

    kept: tuple[int, int, int, int, int]
    """Ours: command, main, error, report, script."""
    given: dict[int, int]
    """The shell's number -> what this process has open for it; its 1 and 2 are the main pty as well."""


def open_ends(
    ptmx: str, owner: tuple[int, int] | None, ours: contextlib.ExitStack, theirs: contextlib.ExitStack
) -> Ends:
    """Open a shell's command socket, two ptys, report pipe and memfd; the stacks close what is kept and what is given.

    Raises:
        OSError: no pty left.
    """
    theirs.enter_context(reserved_numbers())
    (main, main_end), (error, error_end) = pairs = [open_pty(ptmx, ours, theirs) for _ in range(2)]
    command, command_end = (end.detach() for end in socket.socketpair())
    ours.callback(os.close, command)
    theirs.callback(os.close, command_end)
    report, report_end = os.pipe2(os.O_CLOEXEC)
    ours.callback(os.close, report)
    theirs.callback(os.close, report_end)
    script = os.memfd_create("script", os.MFD_CLOEXEC)
    ours.callback(os.close, script)
    for _, screen in pairs:
        set_screen(screen)
        if owner is not None:
            os.fchown(screen, *owner)
    for fd in (command, main, error, report):
        os.set_blocking(fd, False)
    given = {0: command_end, REPORT_FD: report_end, SCRIPT_FD: script, MAIN_FD: main_end, ERROR_FD: error_end}
    return Ends((command, main, error, report, script), given)


def _attach(given: Mapping[int, int], preexec: Callable[[], None] | None) -> Callable[[], None]:
    """Return what the child does between fork and exec."""

    def attach() -> None:
        fcntl.ioctl(1, termios.TIOCSCTTY, 0)
        for number in (REPORT_FD, SCRIPT_FD, MAIN_FD, ERROR_FD):
            os.dup2(given[number], number)
        # A parent that ignores or blocks signals (nohup, a test runner) must not hand that down.
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGTSTP, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        if preexec is not None:
            preexec()

    return attach


@contextlib.contextmanager
def reserved_numbers() -> Iterator[None]:
    """Keep 240 to 243 out of the hands of anything opened meanwhile.

    Otherwise, in a process with many descriptors, one of ours or subprocess's own error pipe would get such a
    number and be overwritten in the child.
    """
    null = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    held = [null]
    try:
        numbers = (REPORT_FD, SCRIPT_FD, MAIN_FD, ERROR_FD)
        held.extend(fcntl.fcntl(null, fcntl.F_DUPFD_CLOEXEC, number) for number in numbers)
        yield
    finally:
        for fd in held:
            os.close(fd)


def open_pty(ptmx: str, ours: contextlib.ExitStack, theirs: contextlib.ExitStack) -> tuple[int, int]:
    """Return master and slave of a new pty."""
    master = os.open(ptmx, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    ours.callback(os.close, master)
    fcntl.ioctl(master, TIOCSPTLCK, struct.pack("i", 0))
    slave = open_slave(master)
    theirs.callback(os.close, slave)
    return master, slave


def open_slave(master: int) -> int:
    """Return a descriptor of a master's slave, whatever devpts instance it lives in."""
    return fcntl.ioctl(master, TIOCGPTPEER, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)


def set_screen(slave: int) -> None:
    """Make a tty an ordinary screen without echo and without \\n to \\r\\n (which costs 10-20x on short lines)."""
    attributes = termios.tcgetattr(slave)
    attributes[1] &= ~termios.OPOST
    attributes[3] &= ~termios.ECHO
    termios.tcsetattr(slave, termios.TCSANOW, attributes)
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))


def shell_environment(env: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without what would meddle with the shell, with no prompt and no history file."""
    kept = {name: value for name, value in env.items() if name not in MEDDLING_VARIABLES}
    return {**kept, "PS1": "", "HISTFILE": ""}
