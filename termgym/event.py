"""How a step ended."""

from __future__ import annotations

from enum import IntEnum


class Event(IntEnum):
    """The one event every step ends in; the value is its index in the observation's ``Discrete(11)``."""

    DONE = 0
    """The command ended with exit status 0."""
    NONZERO = 1
    """The command ended with another exit status."""
    MALFORMED = 2
    """The action is not a plan; nothing reached the shell."""
    TIMEOUT = 3
    """The command ran past its time-out and was stopped; partial output is returned."""
    WAITING_INPUT = 4
    """A program waits for keystrokes; the next action may be ``termgym.keys(...)``."""
    SHELL_EXITED = 5
    """The shell ended (``exit``, ``set -e``, end of file); a new one has taken its place."""
    SHELL_REPLACED = 6
    """The shell was replaced by another program (``exec``); a new one has taken its place."""
    KILLED = 7
    """The shell was killed by a signal, its own or the time-out's last rung; a new one has taken its place."""
    OOM = 8
    """The kernel killed something because the sandbox was out of memory."""
    REJECTED = 9
    """The action is well formed but cannot be taken here: keys with nothing waiting, a key name that is none."""
    NOT_RESET = 10
    """``step`` was called with no episode running; call ``reset`` first."""
