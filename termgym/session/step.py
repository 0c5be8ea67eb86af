"""Step: what a session remembers about the command that runs: its clock, its output, who was seen to wait."""

from __future__ import annotations

import math
import re
from enum import Enum
from time import monotonic

from termgym.event import Event
from termgym.result import StepResult
from termgym.session.capture import Streams
from termgym.session.dialogue import Dialogue, Exchanges
from termgym.session.report import Report, fence, untraced, without_prompt, without_traces
from termgym.session.shell import Shell
from termgym.session.spool import Full, without_end
from termgym.session.waiting import Sight, Verdict

SILENCE = 0.15  # before asking whether a program waits for input: most have started by then [s]
_TRACING = re.compile(rb"set -[a-z]*[xv]|xtrace|verbose")  # turned on and maybe off again within one command
GLANCES = (0.004, 0.02)  # when to see whether the shell has come to rest without a report; then every look does [s]
SECOND_LOOK = 0.03  # between seeing a program wait and believing it [s]
LONGEST_PAUSE = 1.0  # between two looks at a silent program [s]
ANSWER_PAUSE = 0.01  # between two looks while an answer is due [s]


class Stage(Enum):
    """How far a session is with its step."""

    IDLE = "no step runs"
    SETTLING = "a noisy prompt is still writing; the command has not been sent"
    CLEARING = "a program that waited for input is being ended; the command has not been sent"
    RUNNING = "the command runs"
    STOPPING = "the command is being stopped"
    LEAVING = "the shell has ended; its exit status is awaited"


class Finding(Enum):
    """What a look at the processes means for the step."""

    NOTHING = "go on"
    ANSWERS = "the program reads, and the dialogue has an answer to what it wrote"
    WAITS = "the program waits for input"
    GONE = "the shell has ended"
    REPLACED = "another program has the shell's place, and waits for input"
    CUT_OFF = "no command can reach the shell any more"


LEAVES = {Finding.GONE: None, Finding.REPLACED: Event.SHELL_REPLACED, Finding.CUT_OFF: Event.SHELL_EXITED}
"""After which findings the shell is left, and how the step then ends; None: its exit status says it."""


class Step:
    """One command or one burst of keystrokes on its way to a result.

    Raises:
        ValueError: a time-out is not a positive number, or a pattern no regular expression.
    """

    __slots__ = (
        "_glances",
        "_look_at",
        "_looked",
        "_pause",
        "_seen",
        "active",
        "before",
        "command",
        "dialogue",
        "end",
        "forced",
        "full",
        "idle_timeout",
        "output",
        "signals",
        "started",
        "timeout",
        "typed",
    )

    def __init__(
        self,
        command: bytes,
        timeout: float,
        idle_timeout: float | None,
        dialogue: Exchanges,
        limit: int,
        before: Report,
    ) -> None:
        if not 0 < timeout < math.inf:
            raise ValueError(f"timeout is {timeout!r}; it must be a positive, finite number of seconds")
        if idle_timeout is not None and not 0 < idle_timeout < math.inf:
            raise ValueError(
                f"idle_timeout is {idle_timeout!r}; it must be None or a positive, finite number of seconds"
            )
        self.command = command
        self.timeout = timeout
        self.idle_timeout = math.inf if idle_timeout is None else idle_timeout
        self.dialogue = Dialogue(dialogue) if dialogue else None
        self.output = Streams(limit)
        self.full: dict[str, Full] = {}
        """At the end: all of what the result holds a part of, where that was asked for."""
        self.signals: list[str] = []
        self.typed = False
        """Whether anything was typed at the program."""
        self.forced: Event | None = None
        """How the step ends, where the shell's exit status does not say it."""
        self.before = before
        """The shell's report before the step."""
        self.started = self.active = monotonic()
        self.end = math.inf
        self._seen: Sight | None = None
        self._looked = 0.0
        self._pause = SILENCE
        self._look_at = math.inf
        self._glances: list[float] = []

    def start_clock(self) -> float:
        """Let the time-outs run from now; return what ``next_event`` does."""
        self.active = now = monotonic()
        self.end = now + self.timeout
        self._look_at = now + SILENCE
        self._glances = [now + each for each in reversed(GLANCES)]
        return self.next_event()

    def next_event(self) -> float:
        """Return when something is due, silence provided."""
        return min(self.end, self.active + self.idle_timeout, self._next_look(), *self._glances[-1:])

    def glance_due(self, now: float) -> bool:
        """Return, once for each of ``GLANCES``, whether to glance at the shell now."""
        if not self._glances or now < self._glances[-1]:
            return False
        self._glances.pop()
        return True

    def look_due(self, now: float) -> bool:
        """Return whether to look at the processes now."""
        return now >= self._next_look()

    def _next_look(self) -> float:
        if self.dialogue is not None and self.dialogue.due:
            return self._look_at
        return max(self._look_at, self.active + SILENCE)

    def hear(self, from_error_pty: bool, data: bytes) -> None:
        """Keep output."""
        self.output.add(from_error_pty, data)
        self.active = monotonic()
        if self.dialogue is not None:
            self.dialogue.hear(from_error_pty, data)
            if self.dialogue.due:
                self._look_at = min(self._look_at, self.active)

    def _believe(self, sight: Sight, now: float) -> bool:
        """Take note of a look; return whether it is the second in a row to see the same."""
        if sight.verdict is Verdict.BUSY:
            self._pause = SILENCE if self.active > self._looked else min(2 * self._pause, LONGEST_PAUSE)
            due = self.dialogue is not None and self.dialogue.due
            self._look_at = now + (ANSWER_PAUSE if due else self._pause)
        else:
            self._look_at = now + SECOND_LOOK
        again = sight == self._seen and self.active <= self._looked
        self._looked, self._seen = now, sight
        return again and sight.verdict is not Verdict.BUSY

    def look(self, shell: Shell, now: float) -> tuple[Finding, Sight]:
        """Look at the processes; what is seen counts when it is seen twice."""
        # After ``exec`` another program has the shell's place: it may run to its end, but is not waited for once it
        # asks for input, since nobody could give it another command.
        replaced = shell.watcher.replaced()
        sight = shell.watcher.find_reader() if replaced else shell.watcher.look()
        if sight.verdict is Verdict.GONE:
            return Finding.GONE, sight
        if sight.verdict is Verdict.LISTENS and not shell.asked_again:
            shell.ask_again()
            sight = Sight(Verdict.BUSY)
        elif sight.verdict is Verdict.LISTENS and shell.sending:
            sight = Sight(Verdict.BUSY)
        if sight.verdict is Verdict.WAITS and not replaced and self.dialogue is not None and self.dialogue.due:
            return Finding.ANSWERS, sight
        if not self._believe(sight, now):
            return Finding.NOTHING, sight
        if sight.verdict is Verdict.WAITS:
            return (Finding.REPLACED if replaced else Finding.WAITS), sight
        # It listens without having reported, has lost its command socket or is stopped; or it is just ending.
        return (Finding.GONE if shell.watcher.ends() else Finding.CUT_OFF), sight

    def answer(self) -> bytes | None:
        """Return what the dialogue says now that a program reads, or None."""
        text = None if self.dialogue is None else self.dialogue.answer()
        if text is not None:
            self._seen = None
            self._look_at = monotonic() + ANSWER_PAUSE
        return text

    @property
    def unanswered(self) -> tuple[str, ...]:
        """Patterns of the dialogue that did not come up."""
        return () if self.dialogue is None else self.dialogue.unanswered

    def outcome(self, event: Event, status: int | None, shell: Shell, late: Streams) -> StepResult:
        """Return the result, without what is the driver's own in the output.

        Args:
            late: what came between this step and the one before; what came after this step's end is put there.
        """
        main, error = self.output.main, self.output.error
        late_output = b""
        if not late.empty:
            late_output = late.main.kept() + late.error.kept()
            self._note("late_output", late.full())
            late.clear()
        errors, taken_out = error.kept(), 0
        traced = False
        if self.before.noisy or shell.last.noisy or _TRACING.search(self.command):
            traced = True
            mark = fence(shell.nonces[0])
            late.add(False, main.cut(mark))
            late.add(True, error.cut(mark))
            errors = without_traces(error.kept(), shell.nonces, self.before.status)
            errors = errors.removesuffix(shell.last.prompt * 2).removesuffix(shell.last.prompt)
            taken_out = len(error.kept()) - len(errors)
            late_output = without_prompt(
                without_traces(late_output, shell.nonces, self.before.status), self.before.prompt
            )
        if main.spooling is not None:
            self._note("stdout", main.full())
            self._note("stderr", self._full_errors(shell) if traced else error.full())
        return StepResult(
            event=event,
            exit_code=status,
            stdout=main.kept(),
            stderr=errors,
            late_output=late_output,
            stdout_bytes=main.total,
            stderr_bytes=error.total - taken_out,
            cwd=shell.cwd(),
            variables=dict(shell.last.variables),
            signals=tuple(self.signals),
            unanswered=self.unanswered,
            wall_s=monotonic() - self.started,
        )

    def _note(self, name: str, full: Full | None) -> None:
        if full is not None:
            self.full[name] = full

    def _full_errors(self, shell: Shell) -> Full | None:
        """Return all of the error stream without what is the driver's own."""
        error = self.output.error
        if error.spool is None:
            return None
        missing = max(0, error.total - error.spool.size)
        pieces = untraced(error.spool.lines(error.total), shell.nonces, self.before.status)
        return Full(pieces if missing else without_end(pieces, shell.last.prompt), missing)
