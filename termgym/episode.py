"""Episode: one task, one sandbox, one step after another, without a word about Gymnasium.

A step is ``begin`` (send the action), then driving ``session`` until it has a result, then ``finish`` (checks, reward,
outcome). So one loop can drive many episodes at once; ``step`` does all three for one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rolf.output import OutputSink
from termgym import staging
from termgym.errors import (
    PlanError,
    SandboxError,
    SandboxLost,
    SandboxUnavailable,
    TaskError,
    VerifierError,
)
from termgym.event import Event
from termgym.exchange import refused, send, told
from termgym.image import build
from termgym.lodging import FAULTS as FAULTS  # known by this place too
from termgym.lodging import Lodging
from termgym.options import Options
from termgym.outcome import INSTRUCTION_LIMIT, Outcome, shown_path, step_info
from termgym.plan import Action, ActionPlan, Submit, parse_action
from termgym.result import StepResult
from termgym.reward.judge import Judge
from termgym.reward.terms import Violation
from termgym.sandbox.protocol import Sandbox
from termgym.sandbox.seen import Metrics
from termgym.saved import Saved
from termgym.session.capture import decode
from termgym.session.driving import Driver
from termgym.session.session import Session
from termgym.session.shellstate import ShellState
from termgym.session.spool import pour
from termgym.snapshot.change import Change
from termgym.tasks.task import HOME, Task

_RESTORE_TIMEOUT = 10.0  # [s]; what is restored is a few assignments
_NOTHING = Metrics(None, None, None)


class Episode:
    """Everything that happens between two resets, for as many resets as an environment lives.

    Args:
        open_sandbox: Makes the machine; called at the first start, and again after an infrastructure fault.
        options: How the environment is set up.
        driver: The loop that drives the shells of episodes that are stepped together, if this is one of them.
    """

    def __init__(self, open_sandbox: Callable[[], Sandbox], options: Options, driver: Driver | None = None) -> None:
        self._lodging = Lodging(open_sandbox, driver, bare=options.backend == "local-unsafe")
        self._build_network = options.build_network
        self._judge = Judge(options)
        self._number = 0
        self._steps = 0
        self._cwd = HOME
        self._shell_cwd = ""
        self._running = False
        self.task: Task | None = None
        self.sink: OutputSink | None = None  # who wants all of the output
        self._action: Action | None = None
        self._instead: StepResult | None = None
        self._fault: Exception | None = None
        self._measured = _NOTHING
        self._wall_s = 0.0

    # ---- from start to end

    def start(self, task: Task) -> Outcome:
        """Put the task's initial state in place, start the shell, and return what is seen first.

        Raises:
            TaskError: the task, or its image, cannot be built.
            SandboxUnavailable: this host cannot provide the backend.
            SandboxError, SnapshotError: the machine failed, and so did a fresh one.
        """
        if len(task.instruction) > INSTRUCTION_LIMIT:
            raise TaskError(f"instruction of {len(task.instruction)} characters; at most {INSTRUCTION_LIMIT} fit")
        self._running = False
        self._clear_step()
        self.task = task
        self._judge.take(task)
        image = None if task.image is None else build(task.image, network=self._build_network)
        sandbox = self._lodging.start(task, self._judge.watched(task), image)
        self._number += 1
        self._steps = 0
        self._cwd, self._shell_cwd = sandbox.workdir, self._lodging.root + sandbox.workdir
        self._judge.begin(sandbox, self.session.variables, image)
        if task.stages:
            staging.begin(sandbox, task.stages[0])
        self._running = True
        return self._first(sandbox)

    def _first(self, sandbox: Sandbox, stderr: bytes = b"") -> Outcome:
        """Return what is seen before any step is taken from here."""
        assert self.task is not None
        info = {"task": self.task.id, "sandbox": dict(sandbox.capabilities())}
        result = StepResult(Event.DONE, stderr=stderr, stderr_bytes=len(stderr))
        return self._outcome(result, 0.0, False, False, info)

    def close(self) -> None:
        """Leave nothing behind; may be called again, and ``start`` makes everything anew."""
        self._running = False
        self._lodging.close()

    # ---- one step

    @property
    def session(self) -> Session:
        """The shell that ``begin`` sent a command to."""
        return self._lodging.session

    @property
    def _sandbox(self) -> Sandbox | None:
        return self._lodging.sandbox

    def step(self, text: str) -> Outcome:
        """Take one step to its end."""
        if self.begin(text):
            try:
                self.session.drive()
            except SandboxError as error:
                self.fail(error)
        return self.finish()

    def fail(self, error: SandboxError) -> None:
        """Take note that the machine failed in the step that was begun."""
        self._fault = error

    def begin(self, text: str) -> bool:
        """Begin a step; return whether ``session`` must now be driven to a result before ``finish``."""
        self._clear_step()
        if not self._running or not self._lodging.ours:
            self._instead = refused(Event.NOT_RESET, "no episode is running; call reset first", self._cwd)
            return False
        try:
            self._action = action = parse_action(text)
        except PlanError as error:
            self._instead = refused(Event.MALFORMED, str(error), self._cwd)
            return False
        assert self._sandbox is not None
        try:
            self._sandbox.begin_step()
            return self._act(action)
        except FAULTS as error:
            self._fault = error
            return False

    def _act(self, action: Action) -> bool:
        if isinstance(action, Submit):
            self._instead = StepResult(Event.DONE, cwd=self._cwd)
            return False
        try:
            send(self.session, action, self._time_allowed(action.timeout), self.sink)
        except ValueError as error:  # a key that is none, a dialogue's pattern
            self._instead = refused(Event.REJECTED, str(error), self._cwd)
            return False
        return True

    def _time_allowed(self, asked: float) -> float:
        """Return a step's time-out: what it asks for, within what is left of the trajectory [s]."""
        left = self._judge.time_left()
        return asked if left is None else max(0.001, min(asked, left))

    def _clear_step(self) -> None:
        self._action = None
        self._instead = None
        self._fault = None
        self._measured = _NOTHING
        self._wall_s = 0.0

    # ---- what came of it

    def finish(self) -> Outcome:
        """Return the outcome of the step that ``begin`` began; the session has its result."""
        if self._fault is None:
            try:
                return self._concluded()
            except VerifierError as error:
                return self._unjudged(error)
            except FAULTS as error:
                self._fault = error
        return self._failed(self._fault)

    def _concluded(self) -> Outcome:
        result, broken = self._instead, False
        if result is None:
            result, broken = self._received()
        elif result.event is Event.NOT_RESET:
            return self._outcome(result, 0.0, False, True, step_info(result, None, masked=True))
        verdict = self._judge.judge(self._steps, self._action, result, self._cwd, self._measured, shell_broken=broken)
        self._cwd = result.cwd or self._cwd
        self._steps += 1
        self._running = not (verdict.terminated or verdict.truncated)
        if verdict.goes_on:
            result = self._next_stage(result)
        reward = float(sum(verdict.terms.values()))
        return self._outcome(result, reward, verdict.terminated, verdict.truncated, step_info(result, verdict))

    def _next_stage(self, result: StepResult) -> StepResult:
        """Begin the next stage in a new shell; return the step's result with where that stands."""
        assert self._sandbox is not None
        stage = self._judge.stages.current
        assert stage is not None
        self._respawn(self._sandbox)
        staging.begin(self._sandbox, stage)
        self._cwd = self._sandbox.workdir
        return result._replace(respawned=True, cwd=self._cwd)

    def _respawn(self, sandbox: Sandbox) -> None:
        self._lodging.respawn()
        self._shell_cwd = self._lodging.root + sandbox.workdir

    def _received(self) -> tuple[StepResult, bool]:
        """Return the session's result and whether no shell starts any more; a dead shell is replaced."""
        assert self._sandbox is not None
        result = self.session.result
        assert result is not None
        self._measured = self._sandbox.metrics()
        if self.sink is not None:
            pour(result, self.session.full, self.sink)
        self._wall_s = result.wall_s
        if result.cwd is not None:
            self._shell_cwd = result.cwd
            if self._lodging.root:
                result = result._replace(cwd=self._lodging.inside(result.cwd))
        if self._measured.oom_kills:
            result = result._replace(event=Event.OOM)
        if self.session.alive:
            return result, False
        try:
            self._respawn(self._sandbox)
        except (SandboxLost, SandboxUnavailable):
            raise
        except SandboxError as error:
            # The machine answers and yet no shell starts: that is what the agent made of it.
            return told(result, f"no shell starts any more: {error}")._replace(variables={}), True
        return result._replace(respawned=True, cwd=self._sandbox.workdir, variables=self.session.variables), False

    def _unjudged(self, error: VerifierError) -> Outcome:
        """Return the outcome of an episode on which there is no verdict; its files can still be looked at."""
        self._running = False
        self._steps += 1
        result = refused(Event.DONE, f"there is no verdict, the episode does not count: {error}", self._cwd)
        info = step_info(result, None, masked=True, failure_kind=type(error).__name__)
        info["verifier"] = dict(error.told)
        return self._outcome(result, 0.0, False, True, info)

    def _failed(self, error: Exception) -> Outcome:
        """Return the outcome of a step that the machine failed; the next start makes a new one."""
        self._running = False
        self._lodging.abandon()
        self._steps += 1
        result = refused(Event.KILLED, f"the sandbox failed, the step does not count: {error}", self._cwd)
        info = step_info(result, None, masked=True, failure_kind=type(error).__name__)
        return self._outcome(result, 0.0, False, True, info)

    def _outcome(
        self, result: StepResult, reward: float, terminated: bool, truncated: bool, info: dict[str, Any]
    ) -> Outcome:
        return Outcome(
            "" if self.task is None else self._judge.stages.instruction,
            decode(result.stdout, result.stdout_bytes),
            decode(result.stderr, result.stderr_bytes),
            shown_path(self._cwd),
            result.exit_code,
            result.event,
            self._steps,
            reward,
            terminated,
            truncated,
            info,
        )

    # ---- beside the steps

    @property
    def metrics(self) -> dict[str, Any]:
        """What the last step cost: measured, so never the same twice."""
        return {"wall_s": self._wall_s, **self._measured._asdict()}

    @property
    def violations_log(self) -> Sequence[Violation]:
        """The latest safety violations that were charged."""
        return self._judge.violations_log

    def show_solution(self) -> ActionPlan:
        """Put the solution of the stage that runs before the agent and return the plan that carries it out.

        Raises:
            RuntimeError: no episode is running, or its task folder has no solution.
        """
        sandbox = self._lodging.machine("show_solution")
        stage = self._judge.stages.current
        if not self._running or stage is None or stage.solution is None:
            raise RuntimeError("show_solution needs a running episode of a task folder that has a solution")
        return staging.show(sandbox, stage.solution)

    def diff(self) -> tuple[Change, ...]:
        """Return what differs from the task's initial state now."""
        return self._lodging.machine("diff").diff()

    def state_digest(self) -> str:
        """Return the digest of the files now; modification times do not count."""
        return self._lodging.machine("state_digest").digest()

    def save(self) -> Saved:
        """Keep this moment.

        Raises:
            RuntimeError: no episode is running, or a program waits for input.
        """
        sandbox = self._lodging.machine("save")
        if not self._running:
            raise RuntimeError("save needs a running episode; call it between reset and the last step")
        if self.session.waiting:
            raise RuntimeError("save cannot keep a program that waits for input; end it first, e.g. by keys('C-c')")
        shell = ShellState(self._shell_cwd, dict(self.session.exported()))
        token = sandbox.save()
        self._lodging.tokens.append(token)
        return Saved(token, self._number, self._steps, shell, self._judge.state())

    def restore(self, saved: Saved) -> Outcome:
        """Go back to a kept moment, as often as wanted; return what is seen there (``TermEnv.restore``).

        Raises:
            ValueError: it was kept in another episode.
            RuntimeError: there is no machine; call ``reset``.
            SandboxError: the machine failed.
        """
        sandbox = self._lodging.machine("restore")
        if saved.episode != self._number or saved.token not in self._lodging.tokens:
            raise ValueError(f"this moment (step {saved.steps}) was kept in another episode or forgotten; save again")
        self._clear_step()
        session = self._lodging.restore(saved.token)
        script = saved.shell.script(session.exported())
        result = session.step(script, timeout=_RESTORE_TIMEOUT)
        if result.event not in (Event.DONE, Event.NONZERO) or result.cwd is None:
            raise SandboxError(f"directory and variables did not come back: {decode(result.stderr)!r}")
        self._steps, self._shell_cwd = saved.steps, result.cwd
        self._cwd = self._lodging.inside(result.cwd) if self._lodging.root else result.cwd
        self._judge.load(saved.judge, result.variables)
        self._running = True
        return self._first(sandbox, result.stderr)

    def forget(self, saved: Saved) -> None:
        """Free what a kept moment holds; without it, the next start does."""
        if saved.token in self._lodging.tokens:
            self._lodging.tokens.remove(saved.token)
            self._lodging.machine("forget").forget(saved.token)
