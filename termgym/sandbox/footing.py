"""What the supervisor stands on: nothing of its owner's but the socket."""

from __future__ import annotations

import fcntl
import os
import resource
import signal
import socket

from termgym.errors import SandboxUnavailable
from termgym.sandbox.bubblewrap import LAUNCH_FDS
from termgym.session.terminal import ERROR_FD, MAIN_FD, REPORT_FD, SCRIPT_FD

_LAST_STREAM = 2
_RESERVED = (*LAUNCH_FDS, REPORT_FD, SCRIPT_FD, MAIN_FD, ERROR_FD)
_OWNERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
"""A service manager that stops the owner sends SIGTERM to the supervisor too; ending before the owner would only turn
its last requests into faults. It ends when the owner has."""


def stand_alone(fd: int) -> socket.socket:
    """Let go of the owner's streams, signals and mask; return the socket ``fd`` under a number that nobody inherits.

    A shell that inherited it would let the agent speak for us.
    """
    for number in _OWNERS:
        signal.signal(number, _no_answer)  # not SIG_IGN: that would be passed on to every program
    # With SIGCHLD ignored the kernel throws away how children ended.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    os.umask(0o022)
    while (null := os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)) <= _LAST_STREAM:
        os.set_inheritable(null, True)
    os.close(null)
    free = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _LAST_STREAM + 1)  # fd may be one of the shell's numbers
    os.close(fd)
    return socket.socket(fileno=free)


def _no_answer(_signal: int, _frame: object) -> None:
    """Do nothing."""


def make_room_for_descriptors() -> None:
    """Keep the numbers that bubblewrap or a shell is started with from being ours; allow as many others as may be.

    With a few dozen sandboxes a pipe for bubblewrap would otherwise get one of them, and the shell's line its place.

    Raises:
        SandboxUnavailable: so many descriptors are not allowed.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard <= max(_RESERVED):
        raise SandboxUnavailable(
            f"this process may open {hard} files (ulimit -Hn), but a shell's lines need the numbers up to "
            f"{max(_RESERVED)}; raise the limit above that"
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    null = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    for number in _RESERVED:
        os.dup2(null, number, inheritable=False)
    os.close(null)
