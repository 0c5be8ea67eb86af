"""Rewards that rank by success alone: sparse, and with a potential that guides without changing what is best.

``shaped`` adds F = gamma * Phi(s') - Phi(s) to the sparse reward. Phi(s) is the share of the goal checks that hold in s
minus the share that holds in the initial state (what doing nothing reaches), and 0 once the episode has ended. Then the
discounted sum of F over an episode is -Phi(s0) = 0, whatever the agent does: every policy keeps its return, so the best
policy stays the best. Episodes cut by a step limit count as ended, which the proof needs for a finite horizon.

Sources: A. Y. Ng, D. Harada, S. Russell, "Policy invariance under reward transformations", ICML 1999;
M. Grzes, "Reward shaping in episodic reinforcement learning", AAMAS 2017 (the terminal potential).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from termgym.event import Event
from termgym.reward.facts import CheckResult, StepFacts
from termgym.tasks.task import Task

if TYPE_CHECKING:  # that module imports this one
    from termgym.reward.terms import Violation


class SuccessReward:
    """1.0 for the step that reaches the goal, 0.0 for every other; a verifier's reward where there is one.

    The one term is ``task_success``. Safety rules cost nothing here; ``info["violations"]`` still names them.
    """

    def __init__(self) -> None:
        self.violations_log: Sequence[Violation] = ()
        self._succeeded = False

    def reset(self, task: Task, goal: Sequence[CheckResult] = ()) -> None:  # noqa: ARG002 - part of the protocol
        """Begin an episode."""
        self._succeeded = False

    def step(self, facts: StepFacts) -> dict[str, float]:
        """Return the one term of a finished step."""
        fresh = facts.achieved > 0 and not self._succeeded and facts.result.event is not Event.NOT_RESET
        self._succeeded = self._succeeded or fresh
        return {"task_success": facts.achieved if fresh else 0.0}

    def state(self) -> dict[str, Any]:
        """Return what later rewards depend on."""
        return {"succeeded": self._succeeded}

    def load(self, state: Mapping[str, Any]) -> None:
        """Go back to what ``state`` returned."""
        self._succeeded = bool(state["succeeded"])


class ShapedReward:
    """The sparse reward and a potential over the goal checks, as ``task_success`` and ``shaping``.

    Args:
        gamma: The learner's discount; with another one the shaping no longer cancels.
    """

    def __init__(self, gamma: float) -> None:
        self._gamma = gamma
        self._sparse = SuccessReward()
        self.violations_log: Sequence[Violation] = ()
        self._checks = 0
        self._baseline = 0.0
        self._potential = 0.0

    def reset(self, task: Task, goal: Sequence[CheckResult] = ()) -> None:
        """Begin an episode.

        Raises:
            ValueError: Not every goal check was evaluated on the initial state.
        """
        self._sparse.reset(task, goal)
        self._checks = len(task.goal)
        self._baseline = self._share(goal)
        self._potential = 0.0

    def step(self, facts: StepFacts) -> dict[str, float]:
        """Return both terms of a finished step; a step whose goal checks were not looked at keeps its potential.

        Raises:
            ValueError: Some goal checks were evaluated and some were not.
        """
        terms = self._sparse.step(facts)
        if facts.result.event is Event.NOT_RESET:
            return {**terms, "shaping": 0.0}
        before = self._potential
        if facts.ended:
            self._potential = 0.0
        elif facts.goal:
            self._potential = self._share(facts.goal) - self._baseline
        return {**terms, "shaping": self._gamma * self._potential - before}

    def state(self) -> dict[str, Any]:
        """Return what later rewards depend on."""
        own = {"checks": self._checks, "baseline": self._baseline, "potential": self._potential}
        return {**self._sparse.state(), **own}

    def load(self, state: Mapping[str, Any]) -> None:
        """Go back to what ``state`` returned."""
        self._sparse.load(state)
        self._checks = int(state["checks"])
        self._baseline = float(state["baseline"])
        self._potential = float(state["potential"])

    def _share(self, goal: Sequence[CheckResult]) -> float:
        if len(goal) != self._checks:
            raise ValueError(f"shaped reward needs all {self._checks} goal checks evaluated, got {len(goal)}")
        return sum(check.passed for check in goal) / self._checks if goal else 0.0
