"""Judge: whether a step reached the goal, whether it ended the episode, and what it is paid."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from termgym.checking import evaluate_all, watched
from termgym.globs import outside
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

    def begin(self, task: Task, sandbox: Sandbox, variables: Mapping[str, str]) -> None:
        """Begin an episode whose initial state is in place, in a shell with these watched variables."""
        self._task = task
        self._sandbox = sandbox
        self._max_steps = self._options.max_steps or task.max_steps
        self._began = time.monotonic()
        self._variables = variables
        self._privileges = PrivilegeWatch()
        self._reward.reset(task, self._goal(None, HOME) if self._all_checks else ())

    def time_left(self) -> float | None:
        """Return the time until the trajectory's time-out [s]; None: there is none."""
        limit = self._options.trajectory_timeout
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
        at_once = self._options.check_goal == "step"
        goal = self._goal(result, cwd) if at_once or submitted or last or shell_broken else ()
        success = bool(goal) and all(check.passed for check in goal)
        terminated = submitted or shell_broken or (at_once and success)
        ended = terminated or last
        changes = self._close_books() if ended else ()
        facts = self._facts(
            step, action, result, stood, validation, goal, success, ended, changes, measured, shell_broken
        )
        terms = self._reward.step(facts)
        digest = self._sandbox.digest() if ended else None
        return Verdict(facts, terms, terminated, ended and not terminated, changes, digest)

    def _facts(
        self,
        step: int,
        action: Action | None,
        result: StepResult,
        stood: str,
        validation: tuple[CheckResult, ...],
        goal: tuple[CheckResult, ...],
        success: bool,
        ended: bool,
        changes: tuple[Change, ...],
        measured: Metrics,
        shell_broken: bool,
    ) -> StepFacts:
        command = action.command if isinstance(action, ActionPlan) else ""
        return StepFacts(
            step=step,
            action=action,
            result=result,
            validation=validation,
            goal=goal,
            success=success,
            ended=ended,
            drift=outside(changes, self._task.allowed) if changes else (),
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
            "elapsed": time.monotonic() - self._began,
        }

    def load(self, state: Mapping[str, Any], variables: Mapping[str, str]) -> None:
        """Go back to what ``state`` returned, in a new shell with these watched variables."""
        self._reward.load(state["reward"])
        self._privileges.load(state["privileges"])
        self._variables = variables
        self._began = time.monotonic() - float(state["elapsed"])
