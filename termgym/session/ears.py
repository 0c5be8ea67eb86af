"""Ears: what comes from the shell's screens, and whether it belongs to a step or to the time between two."""

from __future__ import annotations

from termgym.session.capture import Streams
from termgym.session.shell import Shell
from termgym.session.spool import Spooling
from termgym.session.step import Step
from termgym.session.terminal import Terminal

_DRAIN_ROUNDS = 64  # a pty holds at most 64 KiB: enough for all that was written before the report


class Ears:
    """Takes output as it comes and gives it to whom it belongs.

    Args:
        limit: budget of each stream [bytes].
    """

    def __init__(self, terminal: Terminal, shell: Shell, limit: int) -> None:
        self.late = Streams(limit)
        """What came since the last step, and belongs to none."""
        self._error_fd = terminal.error_fd
        self._shell = shell
        self._keep = self.late.add

    def listen_for(self, step: Step | None) -> None:
        """Give a step what comes from now on; None: to nobody, for its command has not been sent, or is over."""
        self._keep = self.late.add if step is None else step.hear

    def spool(self, spooling: Spooling) -> None:
        """Keep all of what comes between steps."""
        self.late.spool(spooling)

    def take(self, fd: int, events: int) -> None:
        """Read or write what a descriptor is ready for; nothing else changes."""
        if data := self._shell.take(fd, events):
            self._keep(fd == self._error_fd, data)

    def take_ready(self) -> None:
        """Take all that has come in so far."""
        for _ in range(_DRAIN_ROUNDS):
            if not (ready := self._shell.lines.poll(0)):
                return
            for fd, events in ready:
                self.take(fd, events)
