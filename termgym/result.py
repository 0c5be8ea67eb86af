"""What one step of a session came to: bytes, status and event, before any of it becomes an observation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from termgym.event import Event


class StepResult(NamedTuple):
    """The outcome of one command or one burst of keystrokes.

    A tuple because a frozen dataclass of as many fields takes four times as long to make.
    """

    event: Event
    exit_code: int | None = None
    """Exit status of the command, 128 + signal number if a signal ended it; None while it still runs or is unknown."""
    stdout: bytes = b""
    """What went to the main terminal, head and tail kept if it was over the byte budget."""
    stderr: bytes = b""
    late_output: bytes = b""
    """What background jobs wrote between the previous step and this one."""
    stdout_bytes: int = 0
    """How much there was before the cut [bytes]."""
    stderr_bytes: int = 0
    cwd: str | None = None
    """Working directory of the shell after the step, as the agent sees it."""
    variables: Mapping[str, str] = {}
    """The watched shell variables after the step; unset ones are absent."""
    signals: tuple[str, ...] = ()
    """Rungs of the kill ladder that were needed, in order (``^C``, ``SIGTERM``, …)."""
    respawned: bool = False
    """Whether the shell that answers from now on is a new one: files stay, processes and shell state do not."""
    unanswered: tuple[str, ...] = ()
    """Patterns of the dialogue that had not come up when the step ended."""
    wall_s: float = 0.0
    """Time from the first byte sent to the result [s]; volatile, so never part of ``info``."""

    @property
    def truncated(self) -> bool:
        """Whether either stream was over its byte budget."""
        return self.stdout_bytes > len(self.stdout) or self.stderr_bytes > len(self.stderr)


@dataclass(frozen=True, slots=True)
class Completed:
    """The outcome of one program run beside the shell (``Sandbox.run``)."""

    exit_code: int
    """Exit status, 128 + signal number if a signal ended it."""
    stdout: bytes
    stderr: bytes
    timed_out: bool = False
    refused: str = ""
    """Why its end says nothing, whatever its exit status: it could not be started, or was starved of memory."""
