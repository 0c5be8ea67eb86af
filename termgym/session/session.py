"""Session: one persistent bash, driven through its terminal one step at a time.

A step is a small state machine, so that one loop can drive many sessions: ``begin``, then ``ready`` and ``tick`` as
``interests`` and ``deadline`` ask, until there is a ``result``. What is typed and reported is in ``report``, who waits
for input in ``waiting``, how a step is stopped in ``ladder``.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from time import monotonic

from termgym.errors import SandboxError, SandboxLost
from termgym.event import Event
from termgym.result import StepResult
from termgym.session.dialogue import Exchanges
from termgym.session.ears import Ears
from termgym.session.ladder import BRISK, PATIENT, Pace, put_down
from termgym.session.leaving import Leaving
from termgym.session.shell import Shell
from termgym.session.spool import Full, Spooling
from termgym.session.step import LEAVES, Finding, Stage, Step
from termgym.session.stopping import Stopping
from termgym.session.terminal import Terminal
from termgym.session.waiting import Sight

SETTLE_LIMIT = 1.0  # for a noisy prompt to come to its end before the next command [s]
SETTLE_PAUSE = 0.001  # [s]
GLANCE_PAUSE = 0.003  # between two glances at a shell that ends, or whose program is being ended [s]


class Session:
    """One persistent bash. Whatever is sent ends in a result; ``alive`` says whether there can be another.

    Args:
        terminal: made by a sandbox; the session closes its descriptors, the sandbox ends its processes.
        watch: shell variables to report after each step.
        output_limit: budget of each stream of a step [bytes].
        start_timeout: how long the shell may take to answer for the first time [s].

    Raises:
        SandboxError: the shell came up without job control; SandboxLost: not at all.
    """

    def __init__(
        self, terminal: Terminal, *, watch: Sequence[str] = (), output_limit: int = 32_768, start_timeout: float = 20.0
    ) -> None:
        self._terminal = terminal
        self._shell = Shell(terminal, watch, start_timeout)
        self._ears = Ears(terminal, self._shell, output_limit)
        self._lines = self._shell.lines
        self._limit = output_limit
        self._state = Stage.IDLE
        self._alive = True
        self._driven = self._closed = False
        self._wake = math.inf
        self._result: StepResult | None = None
        self._waiting: Sight | None = None
        self._stopping: Stopping | None = None
        self._leaving: Leaving | None = None
        self._spooling: Spooling | None = None
        self._step = Step(b"", 1.0, None, (), output_limit, self._shell.last)

    def begin(
        self, command: bytes, *, timeout: float, idle_timeout: float | None = None, dialogue: Exchanges = ()
    ) -> None:
        """Send a command; returns at once. Drive it by ``interests``, ``ready`` and ``tick`` until ``result`` is there.
        A program that waits for input since an earlier step is ended first.

        Args:
            command: sent verbatim, but for NUL bytes, which bash would drop too.
            timeout: when the command is stopped [s].
            idle_timeout: stop it after this much silence [s].
            dialogue: (pattern, text) pairs: when a pattern has appeared and the program reads, its text is typed.

        Raises:
            SandboxLost: the shell has ended.
            ValueError: a time-out is not a positive number, or a pattern no regular expression.
        """
        self._open(Step(command, timeout, idle_timeout, dialogue, self._limit, self._shell.last))
        self._ears.take_ready()
        if not self._shell.connected:
            self._leave(None)
        elif self._waiting is not None:
            self._state = Stage.CLEARING
            if not self._take_report():
                self._start_ladder(BRISK)
        elif self._shell.last.noisy:
            self._settle()
        else:
            self._send()

    def begin_keys(self, keys: bytes, *, timeout: float, idle_timeout: float | None = None) -> None:
        """Send keystrokes to the program that waits for input.

        If none waits the result is REJECTED and nothing is typed; if it has ended meanwhile, how it ended. Raises what
        ``begin`` does.
        """
        self._open(Step(b"", timeout, idle_timeout, (), self._limit, self._shell.last))
        waiting, self._waiting = self._waiting, None
        if waiting is None:
            self._finish(Event.REJECTED, None)
            return
        self._state = Stage.RUNNING
        self._ears.listen_for(self._step)
        self._ears.take_ready()
        if not self._shell.connected:
            self._leave(None)
        elif not self._take_report():
            self._type(keys, waiting)
            self._wake = self._step.start_clock()

    def interests(self) -> Sequence[tuple[int, int]]:
        """Return the (fd, poll event mask) pairs to watch now: the same object for as long as they stay the same."""
        return self._lines.interests

    def ready(self, fd: int, events: int) -> None:
        """Take note that a descriptor is ready; may be called at any time, between steps too."""
        self._ears.take(fd, events)
        if fd in (self._terminal.report_fd, self._shell.end_fd) and self._state is not Stage.IDLE:
            reported = self._take_report()  # the shell may have ended right after its report
            if fd == self._shell.end_fd and not reported and self._state is not Stage.LEAVING:
                self._leave(None)

    def deadline(self) -> float:
        """Return when ``tick`` wants to be called next [s, time.monotonic()]; infinity between steps."""
        return self._wake

    def tick(self) -> None:
        """Do what is due by the clock; harmless when called early."""
        now = monotonic()
        if now < self._wake:
            return
        if self._state is Stage.RUNNING:
            self._watch_over(now)
        elif self._state is Stage.SETTLING:
            self._settle()
        elif self._state in (Stage.CLEARING, Stage.STOPPING):
            assert self._stopping is not None
            self._climb(self._stopping.press_on(now), now)
        elif self._state is Stage.LEAVING:
            assert self._leaving is not None
            self._await_exit(self._leaving, now)

    @property
    def result(self) -> StepResult | None:
        """The outcome, once the step has ended."""
        return self._result

    @property
    def variables(self) -> Mapping[str, str]:
        """The watched variables that were set when the shell last reported."""
        return self._shell.last.variables

    @property
    def waiting(self) -> bool:
        """Whether the last step ended in WAITING_INPUT and the program was not ended since."""
        return self._waiting is not None

    @property
    def alive(self) -> bool:
        """Whether the shell can take another step; if not, the sandbox must start a new one."""
        return self._alive

    def step(
        self, command: bytes, *, timeout: float, idle_timeout: float | None = None, dialogue: Exchanges = ()
    ) -> StepResult:
        """``begin`` and drive to the end."""
        self.begin(command, timeout=timeout, idle_timeout=idle_timeout, dialogue=dialogue)
        return self.drive()

    def press(self, keys: bytes, *, timeout: float, idle_timeout: float | None = None) -> StepResult:
        """``begin_keys`` and drive to the end."""
        self.begin_keys(keys, timeout=timeout, idle_timeout=idle_timeout)
        return self.drive()

    def drive(self) -> StepResult:
        """Drive the step that was begun to its end."""
        self._driven = True
        try:
            if self._closed and self._result is None:
                raise SandboxError(
                    "this session was closed, by another thread, before its step was driven; open another"
                )
            while self._result is None:
                for fd, events in self._lines.poll(max(0.0, self._wake - monotonic())):
                    self.ready(fd, events)
                if self._result is None:
                    self.tick()
        finally:
            self._part()
        return self._result

    def _part(self) -> None:
        """Come out of what ``close`` leaves the descriptors to."""
        self._driven = False
        if self._closed:
            self._shell.close()

    def interrupt(self) -> bool:
        """Type ^C at what runs in this step, which then ends as any other; return whether anything could be typed.

        May be called amid a step, by a signal handler or another thread: it does nothing that the step could trip over.
        """
        if not self._alive or self._state is Stage.IDLE:
            return False
        self._step.typed = True  # a program in raw mode may leave it unread
        return self._lines.interrupt()

    def watch_also(self, names: Sequence[str]) -> None:
        """Have the commands to come report these variables too, instead of any named here before."""
        self._shell.watched_also = names

    def keep_all(self, spooling: Spooling) -> None:
        """Keep all output of the next step and of what comes after it; where it is over the budget, in files."""
        self._spooling = spooling
        self._ears.spool(spooling)

    @property
    def full(self) -> Mapping[str, Full]:
        """By field of the result: all of what it holds a part of, to be read before the next step."""
        return self._step.full

    def exported(self) -> Mapping[str, str]:
        """Return the exported variables, as a child of the shell would get them now.

        Raises:
            SandboxError: a step is running or a program waits for input; SandboxLost: the shell does not answer.
        """
        self._check_alive()
        if self._state is not Stage.IDLE or self._waiting is not None:
            raise SandboxError("the shell cannot be asked for its variables while a program runs or waits for input")
        self._driven = True
        try:
            return self._shell.exported()
        finally:
            self._part()

    def close(self) -> None:
        """Hang up; may be called twice. The processes are the sandbox's to kill.

        While another thread drives a step, that one hangs up when the step has ended: closed before, the descriptors
        could be opened anew by others, whom the step would read from and write to.
        """
        self._alive = False
        self._waiting = None
        self._closed = True
        if not self._driven:
            self._shell.close()

    def _open(self, step: Step) -> None:
        self._check_alive()
        if self._state is not Stage.IDLE:
            raise RuntimeError("a step is running; drive it until result is there before the next one")
        if self._spooling is not None:
            step.output.spool(self._spooling)
        self._step, self._result, self._spooling = step, None, None

    def _check_alive(self) -> None:
        if not self._alive:
            raise SandboxLost("the shell has ended; ask the sandbox for a new session")

    def _settle(self) -> None:
        """Send the command once bash has written its prompt and whatever else, all of which is set aside."""
        now = monotonic()
        self._state = Stage.SETTLING
        if now - self._step.started < SETTLE_LIMIT and not self._shell.watcher.listens():
            self._wake = now + SETTLE_PAUSE
            return
        self._ears.take_ready()
        if self._shell.connected:
            self._send()
        else:
            self._leave(None)

    def _send(self) -> None:
        try:
            self._lines.restore_modes()
            self._shell.send(self._step.command)
        except OSError:  # EIO: nobody holds the other end
            self._leave(None)
            return
        self._state = Stage.RUNNING
        self._ears.listen_for(self._step)
        self._wake = self._step.start_clock()

    def _type(self, keys: bytes, reader: Sight) -> None:
        """Type at the pty that the program reads."""
        self._step.typed = True
        with contextlib.suppress(OSError):  # it has ended, and the terminal with it: that shows on the report pipe
            self._lines.write(self._terminal.error_fd if reader.on_error_pty else self._terminal.main_fd, keys)

    def _take_report(self) -> bool:
        """Act on the shell's report; return whether there was one."""
        if not self._shell.reported():
            if not self._shell.connected and self._state in (Stage.RUNNING, Stage.SETTLING):
                self._wake = monotonic()  # the shell has ended, or was replaced
            return False
        self._stop_climbing()
        if self._state is Stage.CLEARING:
            self._put_down_reader()
            self._lines.drop_typeahead()
            self._settle()
        elif self._state in (Stage.RUNNING, Stage.STOPPING):
            self._conclude()
        return True

    def _put_down_reader(self) -> None:
        """Kill the program that waited if it outlived its parent (``setsid -w cat``): it would steal keystrokes."""
        reader, self._waiting = self._waiting, None
        if reader is not None and reader.pid != self._terminal.shell_pid:
            put_down(reader.pid)

    def _watch_over(self, now: float) -> None:
        step = self._step
        if now >= step.end or now >= step.active + step.idle_timeout:
            self._state = Stage.STOPPING
            self._start_ladder(PATIENT)
            return
        glance = step.glance_due(now) and not self._shell.asked_again and self._shell.watcher.listens()
        if glance or step.look_due(now) or not self._shell.connected:
            self._ears.take_ready()  # a report may have come in while this process had no turn
            if self._take_report():
                return
            if glance:
                self._shell.ask_again()
            else:
                self._look(monotonic())
        if self._state is Stage.RUNNING:
            self._wake = step.next_event()

    def _look(self, now: float) -> None:
        finding, sight = self._step.look(self._shell, now)
        if finding is Finding.ANSWERS and (answer := self._step.answer()) is not None:
            self._type(answer, sight)
        elif finding is Finding.WAITS:
            self._waiting = sight
            self._finish(Event.WAITING_INPUT, None)
        elif finding in LEAVES:
            self._leave(LEAVES[finding])

    def _start_ladder(self, pace: Pace) -> None:
        reader = self._waiting.pid if self._waiting is not None else 0
        self._stopping = Stopping(self._step, self._shell, pace, reader)
        now = monotonic()
        self._climb(self._stopping.step_up(now), now)

    def _stop_climbing(self) -> None:
        if self._stopping is not None:
            self._stopping.over()

    def _climb(self, end: Event | None, now: float) -> None:
        """Wait for the effect of the rung that was stepped on, unless the step has come to its end."""
        self._wake = min(self._step.end, now + GLANCE_PAUSE)
        if end is not None:
            self._leave(end)

    def _conclude(self) -> None:
        """End the step with the shell's report."""
        stopped = self._state is Stage.STOPPING
        self._ears.take_ready()
        if stopped or self._step.typed:
            self._lines.drop_typeahead()
        if not self._shell.can_take_commands():
            # ``exec 10>&-`` and the like: it could not be reached any more. Or it ends, and will say how.
            self._leave(None if self._shell.watcher.ends() else Event.SHELL_EXITED)
            return
        status = self._shell.last.status
        self._finish(Event.TIMEOUT if stopped else Event.NONZERO if status else Event.DONE, status)

    def _leave(self, event: Event | None) -> None:
        """Wait for the exit status of a shell that has ended, or is ended here: then ``event`` tells the step's end."""
        if event is not None:
            self._step.forced = self._step.forced or event
            self._shell.kill()
        self._stop_climbing()
        self._state = Stage.LEAVING
        self._waiting = None
        self._ears.listen_for(self._step)
        now = monotonic()
        self._leaving = Leaving(self._shell, self._step.forced, now)
        self._await_exit(self._leaving, now)

    def _await_exit(self, leaving: Leaving, now: float) -> None:
        farewell = leaving.ended(now)
        if farewell is None:
            self._wake = now + GLANCE_PAUSE
            return
        self._ears.take_ready()
        self._alive = False
        self._finish(*farewell)

    def _finish(self, event: Event, status: int | None) -> None:
        self._result = self._step.outcome(event, status, self._shell, self._ears.late)
        self._ears.listen_for(None)
        self._state = Stage.IDLE
        self._wake = math.inf
