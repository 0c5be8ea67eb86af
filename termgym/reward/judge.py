"""Judge: whether a step reached the goal, whether it ended the episode, and what it is paid."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from termgym.checking import evaluate_all, watched
from termgym.globs import outside
from termgym.image.image import Image
from termgym.options import Options
from termgym.plan import Action, ActionPlan, Submit
from termgym.result import StepResult
from termgym.reward.facts import CheckResult, StepFacts
from termgym.reward.health import machine_watch
from termgym.reward.terms import NOT_RUN, Violation, make_reward
from termgym.safety import PrivilegeWatch, violations
from termgym.sandbox.protocol import Sandbox
from termgym.sandbox.seen import Metrics
from termgym.snapshot.change import Change
from termgym.tasks.task import HOME, Task
from termgym.verification.examination import Examined, examine
from termgym.verification.stages import Stages

_ANY_VALUE = "*"  # of Task.required_env


class Verdict(NamedTuple):
    """What a judge says of one step."""

    facts: StepFacts
    terms: Mapping[str, float]
    """The reward's terms."""
    terminated: bool
    truncated: bool
    changes: tuple[Change, ...]
    """At the end: what differs from the initial state."""
    state_digest: str | None
    """At the end: the digest of the files."""
    verifier: Mapping[str, Any] | None = None
    """What the verifier said, if it was asked."""
    stage: Mapping[str, Any] | None = None
    """Which stage ended with this step, and how."""
    goes_on: bool = False
    """Whether the next stage begins now; every process is dead."""


class _End(NamedTuple):
    """Whether a step ends the episode, and how."""

    goal: tuple[CheckResult, ...] = ()
    success: bool = False
    score: float | None = None
    ended: bool = False
    terminated: bool = False
    changes: tuple[Change, ...] = ()
    examined: Examined | None = None
    goes_on: bool = False
    """Whether it ends a stage alone."""


class Judge:
    """Judges the steps of an environment, across its episodes.

    Args:
        options: How the environment is set up.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._reward = make_reward(options.reward, options.weights)
        self._health = machine_watch(options.health == "score")
        self._all_checks = options.reward == "shaped"  # its potential is the share of checks that hold

    @property
    def violations_log(self) -> Sequence[Violation]:
        """The latest safety violations that were charged."""
        return self._reward.violations_log

    def watched(self, task: Task) -> tuple[str, ...]:
        """Return the shell variables that a session of this task must report."""
        return tuple(sorted({*task.required_env, *watched(task.goal)}))

    def take(self, task: Task) -> None:
        """Take on a task; nothing of it is in place yet."""
        self._task = task
        self.stages = Stages(task)

    def begin(self, sandbox: Sandbox, variables: Mapping[str, str], image: Image | None = None) -> None:
        """Begin an episode of the task whose initial state is in place, in a shell with these watched variables."""
        task = self._task
        self._image = image
        self._sandbox = sandbox
        self._max_steps = self._options.max_steps or task.max_steps
        self._began = time.monotonic()
        self._variables = variables
        self._privileges = PrivilegeWatch()
        self._reward.reset(task, self._goal(None, HOME) if self._all_checks else ())

    def time_left(self) -> float | None:
        """Return the time until the trajectory's time-out [s]; None: there is none."""
        asked = self._options.trajectory_timeout
        limit = self._task.agent_timeout if isinstance(asked, str) else asked
        return None if limit is None else limit - (time.monotonic() - self._began)

    def judge(
        self,
        step: int,
        action: Action | None,
        result: StepResult,
        stood: str,
        measured: Metrics,
        *,
        shell_broken: bool = False,
    ) -> Verdict:
        """Return what is to be said of a step that has just ended.

        Args:
            step: Steps taken before.
            action: What was to be done; None: the text was no action.
            result: What came of it.
            stood: Where the shell stood before; where it stands now is in the result.
            measured: What it cost.
            shell_broken: Whether no shell starts any more; this ends the episode.
        """
        cwd = result.cwd or stood
        submitted = isinstance(action, Submit)
        if not submitted and result.event not in NOT_RUN:  # else nothing reached the shell, and nothing was told
            self._variables = result.variables
        left = self.time_left()
        last = step + 1 >= self._max_steps or (left is not None and left <= 0)
        validation = self._validation(action, result, cwd)
        end = self._end(result, cwd, submitted, last, shell_broken)
        facts = self._facts(step, action, result, stood, validation, end, measured, shell_broken)
        terms = self._reward.step(facts)
        digest = self._sandbox.digest() if end.ended else None
        truncated = end.ended and not end.terminated
        told = None if end.examined is None else end.examined.told
        stage = None if end.examined is None else self.stages.told
        return Verdict(facts, terms, end.terminated, truncated, end.changes, digest, told, stage, end.goes_on)

    def _end(self, result: StepResult, cwd: str, submitted: bool, last: bool, shell_broken: bool) -> _End:
        """Return whether the episode ends with a step, and how."""
        at_once = self._options.check_goal == "step"
        goal = self._goal(result, cwd) if at_once or submitted or last or shell_broken else ()
        success = bool(goal) and all(check.passed for check in goal)
        terminated = submitted or shell_broken or (at_once and success)
        if not (terminated or last):
            return _End(goal, success)
        changes = self._close_books()
        examined = self._examined(changes)
        if examined is None:
            return _End(goal, success, None, True, terminated, changes)
        more = self.stages.record(examined.verdict)
        if more and submitted and not last:
            return _End(score=0.0, examined=examined, goes_on=True)
        reward = self.stages.reward
        return _End(
            success=self.stages.complete and reward >= 1.0,
            score=min(1.0, max(0.0, reward)),
            ended=True,
            terminated=terminated and not (more and last),
            changes=changes,
            examined=examined,
        )

    def _examined(self, changes: tuple[Change, ...]) -> Examined | None:
        """Return what the verifier says of the stage that has ended; None where the task has none.

        Raises:
            VerifierError: it says nothing that counts.
        """
        stage = self.stages.current
        if stage is None or self._image is None:
            return None
        network = self._options.network
        return examine(self._sandbox, stage.verifier, self._image, self.stages.named, changes, network=network)

    def _facts(
        self,
        step: int,
        action: Action | None,
        result: StepResult,
        stood: str,
        validation: tuple[CheckResult, ...],
        end: _End,
        measured: Metrics,
        shell_broken: bool,
    ) -> StepFacts:
        command = action.command if isinstance(action, ActionPlan) else ""
        return StepFacts(
            step=step,
            action=action,
            result=result,
            validation=validation,
            goal=end.goal,
            success=end.success,
            score=end.score,
            ended=end.ended,
            drift=outside(end.changes, self._task.allowed) if end.changes else (),
            environment_active=self._environment_active(),
            cpu_s=measured.cpu_s,
            peak_bytes=measured.peak_bytes,
            unhealthy=self._health.unhealthy(),
            shell_broken=shell_broken,
            violations=violations(command, stood),
            unchecked_privilege=bool(command) and self._privileges.unchecked(command, stood),
        )

    def _validation(self, action: Action | None, result: StepResult, cwd: str) -> tuple[CheckResult, ...]:
        if not isinstance(action, ActionPlan) or not action.validation_steps:
            return ()
        return evaluate_all(action.validation_steps, self._sandbox, result, cwd, HOME)

    def _goal(self, result: StepResult | None, cwd: str) -> tuple[CheckResult, ...]:
        checks = self._task.goal
        if not checks:
            return ()
        stop = not self._all_checks
        return evaluate_all(
            checks, self._sandbox, result, cwd, HOME, self._variables, impartial=True, stop_at_first_failure=stop
        )

    def _close_books(self) -> tuple[Change, ...]:
        """Kill what still runs, so that it cannot write any more, and return what the episode changed."""
        self._sandbox.kill()
        return self._sandbox.diff()

    def _environment_active(self) -> bool:
        required = self._task.required_env
        if not required:
            return True
        have = self._variables
        return all(
            bool(have.get(name)) if value == _ANY_VALUE else have.get(name) == value for name, value in required.items()
        )

    def state(self) -> dict[str, Any]:
        """Return what later verdicts depend on."""
        return {
            "reward": self._reward.state(),
            "privileges": self._privileges.state(),
            "stages": self.stages.state(),
            "elapsed": time.monotonic() - self._began,
        }

    def load(self, state: Mapping[str, Any], variables: Mapping[str, str]) -> None:
        """Go back to what ``state`` returned, in a new shell with these watched variables."""
        self._reward.load(state["reward"])
        self._privileges.load(state["privileges"])
        self.stages.load(state["stages"])
        self._variables = variables
        self._began = time.monotonic() - float(state["elapsed"])
