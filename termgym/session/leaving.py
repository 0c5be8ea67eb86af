"""Leaving: a shell has ended, or is ended here, and its exit status is awaited."""

from __future__ import annotations

from typing import NamedTuple

from termgym.event import Event
from termgym.session.shell import Shell

EXIT_LIMIT = 2.0
"""For the exit status of a shell that has ended [s]; then everything is killed, and it is waited for once more."""


class Farewell(NamedTuple):
    """How a step ended with its shell."""

    event: Event
    status: int | None
    """The shell's exit status, where it says something about the command."""


class Leaving:
    """The last moments of a shell.

    Args:
        forced: how the step ends if its exit status does not say it; None: that says it.
        now: [s, time.monotonic()]
    """

    def __init__(self, shell: Shell, forced: Event | None, now: float) -> None:
        self._terminal = shell.terminal
        self._forced = forced
        self._end = now + EXIT_LIMIT

    def ended(self, now: float) -> Farewell | None:
        """Return how it ended, or None if that is not known yet."""
        status = self._terminal.wait(0.0)
        if status is None and now < self._end:
            return None
        if status is None:
            self._terminal.kill_all()
            status = self._terminal.wait(EXIT_LIMIT)
        if self._forced in (Event.SHELL_REPLACED, Event.SHELL_EXITED):
            status = None  # it was ended from here: that says nothing about the command
        by_signal = status is None or status > 128
        return Farewell(self._forced or (Event.KILLED if by_signal else Event.SHELL_EXITED), status)
