"""Stopping: what runs in a step is ended, one rung of the ladder after another."""

from __future__ import annotations

from termgym.event import Event
from termgym.session.ladder import KILL_SHELL, Pace, climb
from termgym.session.shell import Shell
from termgym.session.step import Step


class Stopping:
    """One climb of the ladder, begun at once; it ends with the shell's report, or with the shell.

    Args:
        reader: a process that waits for input, to be ended with the rest; 0 if there is none.
    """

    def __init__(self, step: Step, shell: Shell, pace: Pace, reader: int) -> None:
        if shell.watcher.replaced():
            step.forced = Event.SHELL_REPLACED
        self._step = step
        self._shell = shell
        self._rungs = climb(shell.terminal, shell.watcher, pace, reader)

    def press_on(self, now: float) -> Event | None:
        """See whether the rung was high enough; step up if its time is over. Returns what ``step_up`` does."""
        if self._shell.watcher.listens():
            self._shell.ask_again()
        return self.step_up(now) if now >= self._step.end else None

    def step_up(self, now: float) -> Event | None:
        """Step on the next rung; return how the step ends if the shell is to be waited for no longer, else None."""
        rung = next(self._rungs, None)
        if rung is None:
            return Event.KILLED
        if rung.name:
            self._step.signals.append(rung.name)
        if rung.name == KILL_SHELL:
            self._step.forced = self._step.forced or Event.KILLED
        self._step.end = now + rung.pause
        return None if self._shell.connected else self._step.forced

    def over(self) -> None:
        """Let go on what paused for the shell to report."""
        self._rungs.close()
