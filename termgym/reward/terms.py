"""The reward of a step: eleven terms, each a figure times a weight, whose sum is the reward.

What depends on a measurement (``resource_waste``, ``time_efficiency``, ``health``) is exactly 0.0 within its budget, so
that an ordinary step has the same reward on every machine; over the budget the figure is the machine's own.
The alternatives are ``success`` (sparse) and ``shaped`` (`termgym.reward.shaping`).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Protocol

from termgym.event import Event
from termgym.plan import ActionPlan
from termgym.reward.facts import CheckResult, StepFacts
from termgym.tasks.task import Task

GIB = 1 << 30
TERMS = (
    "task_success",
    "safety",
    "resource_waste",
    "time_efficiency",
    "state_drift",
    "env_consistency",
    "capability",
    "severe_error",
    "recovery",
    "health",
    "plan_quality",
)
"""The eleven terms, in the order of ``info["reward_terms"]``."""
LOG_LENGTH = 1000
"""Violations kept; an agent that breaks rules for ever must not fill the memory."""
NOT_RUN = (Event.MALFORMED, Event.REJECTED, Event.NOT_RESET)
"""Events of steps in which nothing reached the shell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardWeights:
    """Every number of the reward. Sources: "mission" is the mission's reward table (termgym design, section 5);
    "house" is a choice of this project's, with its reason."""

    success: float = 1.0
    """Task reached (mission)."""
    success_weight: float = 3.0
    """Mission."""
    safety: float = -5.0
    """A step that breaks a safety rule (mission)."""
    safety_strict: float = -8.0
    """The same after a long clean run (mission)."""
    safety_patience: int = 100
    """Clean steps in a row, across episodes, until a violation costs ``safety_strict`` (mission)."""
    waste: float = -0.1
    """Each GiB over the memory budget (mission)."""
    waste_weight: float = 2.0
    """Mission."""
    memory_budget: int | None = None
    """Memory a step may use where there is no GPU [bytes]; None: half of the task's limit (house: at the limit itself
    the kernel ends the program, so a budget as high could never be exceeded)."""
    gpu_budget: int = 12 * GIB
    """GPU memory a step may use where there is a GPU [bytes] (mission: 12 GB)."""
    time: float = -0.02
    """Each second over the time budget (mission)."""
    time_weight: float = 1.5
    """Mission."""
    time_budget: float = 60.0
    """Time a step may take [s] (mission)."""
    drift: float = -0.5
    """Each path changed outside what the task allows (mission)."""
    drift_weight: float = 2.5
    """Mission."""
    environment: float = -3.0
    """A step that ends without the required environment active (mission)."""
    environment_weight: float = 4.0
    """Mission."""
    capability: float = -5.0
    """A privileged operation with no look at capabilities or permissions before it (mission)."""
    severe: float = -10.0
    """A step that leaves the environment broken: a shell no longer starts (mission)."""
    recovery: float = 0.8
    """A failing condition that the agent met is resolved (mission)."""
    recovery_limit: int = 3
    """Recoveries paid an episode (house: 3 x 0.8 stays under the 3.0 of success, so making and mending failures never
    pays better than the task)."""
    health: float = -0.3
    """A step that ends with the machine over its thermal or health limit (mission)."""
    forecast: float = -0.1
    """A plan whose every forecast is wrong; also a text that is no plan (mission: -0.1 malformed)."""
    gamma: float = 0.99
    """Discount of ``reward="shaped"`` alone (house: the usual default); must be the learner's own."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None and field.default is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                raise ValueError(f"{field.name}: a weight is a finite number, got {value!r}")
        if not 0.0 <= self.gamma <= 1.0:
            raise ValueError(f"gamma: a discount is from 0 to 1, got {self.gamma!r}")


class Violation(NamedTuple):
    """One step that broke safety rules, for the log."""

    episode: int
    """Episodes begun, this one included."""
    task: str
    step: int
    command: str
    """The first 200 characters."""
    rules: tuple[str, ...]
    penalty: float
    """What it cost."""


class Reward(Protocol):
    """What every kind of reward can do. One object serves one environment, across its episodes."""

    @property
    def violations_log(self) -> Sequence[Violation]:
        """The latest violations that were charged, oldest first."""

    def reset(self, task: Task, goal: Sequence[CheckResult] = ()) -> None:
        """Begin an episode; ``goal`` is what the goal checks say of the initial state."""

    def step(self, facts: StepFacts) -> dict[str, float]:
        """Return the terms of a finished step; their sum is the reward."""

    def state(self) -> dict[str, Any]:
        """Return what later rewards depend on, as plain JSON values."""

    def load(self, state: Mapping[str, Any]) -> None:
        """Go back to what ``state`` returned."""


class SafetyRule:
    """The penalty that tightens: from ``safety`` to ``safety_strict`` after ``safety_patience`` clean steps.

    A violation is charged at the level reached, logged, and brings the level back down. Clean steps count across
    episodes; steps in which nothing reached the shell count as neither.
    """

    def __init__(self, weights: RewardWeights) -> None:
        self._weights = weights
        self.clean_steps = 0
        self.episode = 0
        self.log: deque[Violation] = deque(maxlen=LOG_LENGTH)

    def penalty(self, facts: StepFacts, task: str) -> float:
        """Return what a step costs; broken rules in one step cost once, however many they are."""
        if facts.result.event in NOT_RUN:
            return 0.0
        if not facts.violations:
            self.clean_steps += 1
            return 0.0
        strict = self.clean_steps >= self._weights.safety_patience
        cost = self._weights.safety_strict if strict else self._weights.safety
        self.clean_steps = 0
        command = facts.action.command if isinstance(facts.action, ActionPlan) else ""
        self.log.append(Violation(self.episode, task, facts.step, command[:200], facts.violations, cost))
        return cost


class RewardModel:
    """The eleven terms.

    Args:
        weights: Every number.
    """

    def __init__(self, weights: RewardWeights | None = None) -> None:
        self.weights = weights if weights is not None else RewardWeights()
        self._safety = SafetyRule(self.weights)
        self._begin("", self.weights.memory_budget)

    def _begin(self, task: str, budget: int | None) -> None:
        self._task = task
        self._budget = budget
        self._succeeded = False
        self._broken = False
        self._met: set[str] = set()
        self._recovered: set[str] = set()

    @property
    def violations_log(self) -> Sequence[Violation]:
        """The latest violations, oldest first. `load` does not take back what was logged."""
        return tuple(self._safety.log)

    def reset(self, task: Task, goal: Sequence[CheckResult] = ()) -> None:  # noqa: ARG002 - part of the protocol
        """Begin an episode."""
        self._safety.episode += 1
        limit, budget = task.limits.memory_bytes, self.weights.memory_budget
        if budget is None and limit is not None:
            budget = limit // 2
        self._begin(task.id, budget)

    def step(self, facts: StepFacts) -> dict[str, float]:
        """Return the eleven weighted terms of a finished step; their sum is the reward."""
        if facts.result.event is Event.NOT_RESET:
            return dict.fromkeys(TERMS, 0.0)
        w = self.weights
        return {
            "task_success": w.success_weight * self._success(facts),
            "safety": self._safety.penalty(facts, self._task),
            "resource_waste": w.waste_weight * self._waste(facts),
            "time_efficiency": w.time_weight * w.time * max(0.0, facts.result.wall_s - w.time_budget),
            "state_drift": w.drift_weight * w.drift * len(facts.drift),
            "env_consistency": 0.0 if facts.environment_active else w.environment_weight * w.environment,
            "capability": w.capability if facts.unchecked_privilege else 0.0,
            "severe_error": self._severe(facts),
            "recovery": w.recovery * self._recoveries(facts),
            "health": w.health if facts.unhealthy else 0.0,
            "plan_quality": w.forecast * forecast_loss(facts),
        }

    def state(self) -> dict[str, Any]:
        """Return what later rewards depend on, as plain JSON values."""
        return {
            "clean_steps": self._safety.clean_steps,
            "episode": self._safety.episode,
            "task": self._task,
            "budget": self._budget,
            "succeeded": self._succeeded,
            "broken": self._broken,
            "met": sorted(self._met),
            "recovered": sorted(self._recovered),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Go back to what ``state`` returned."""
        self._safety.clean_steps = int(state["clean_steps"])
        self._safety.episode = int(state["episode"])
        self._begin(str(state["task"]), state["budget"])
        self._succeeded = bool(state["succeeded"])
        self._broken = bool(state["broken"])
        self._met = set(state["met"])
        self._recovered = set(state["recovered"])

    def _success(self, facts: StepFacts) -> float:
        """Return ``success`` the first time an episode's goal is reached, or the share of it that a verifier grants."""
        if not facts.achieved or self._succeeded:
            return 0.0
        self._succeeded = True
        return self.weights.success * facts.achieved

    def _waste(self, facts: StepFacts) -> float:
        used, budget = facts.peak_bytes, self._budget
        if facts.gpu_peak_bytes is not None:
            used, budget = facts.gpu_peak_bytes, self.weights.gpu_budget
        if used is None or budget is None or used <= budget:
            return 0.0
        return self.weights.waste * (used - budget) / GIB

    def _severe(self, facts: StepFacts) -> float:
        """Return ``severe`` once for a breakdown, not again for every step that it lasts."""
        fresh = facts.shell_broken and not self._broken
        self._broken = facts.shell_broken
        return self.weights.severe if fresh else 0.0

    def _recoveries(self, facts: StepFacts) -> int:
        """Return how many conditions that failed before in this episode hold now, each counted once an episode."""
        outcomes = conditions(facts)
        solved = sorted(name for name, holds in outcomes.items() if holds and name in self._met - self._recovered)
        paid = solved[: max(0, self.weights.recovery_limit - len(self._recovered))]
        self._recovered.update(paid)
        self._met.update(name for name, holds in outcomes.items() if not holds)
        return len(paid)


def conditions(facts: StepFacts) -> dict[str, bool]:
    """Return the conditions that the agent saw tested in this step, and whether each held.

    They are its validation steps, and its command: one that ended other than forecast and with an error has failed, one
    that ended with 0 holds. Goal checks are not among them: the agent does not see them.
    """
    outcomes = {check.check: check.passed for check in facts.validation}
    if isinstance(facts.action, ActionPlan):
        code, event = facts.result.exit_code, facts.result.event
        if event is Event.DONE:
            outcomes[f"$ {facts.action.command}"] = True
        elif event in (Event.TIMEOUT, Event.OOM, Event.KILLED) or (
            event is Event.NONZERO and code != facts.action.expected_exit_code
        ):
            outcomes[f"$ {facts.action.command}"] = False
    return outcomes


def forecast_loss(facts: StepFacts) -> float:
    """Return how wrong a plan's forecasts were, from 0.0 (all right) to 1.0 (all wrong, or no plan at all).

    A forecast that names an outcome says so with probability 1; ``expected_exit_code=null`` abstains, with probability
    1/2. The loss is Brier's, (probability - outcome)^2, which is proper: to name an outcome pays if it is likelier than
    3/4, to abstain pays otherwise. The exit code and the mean over the validation steps weigh the same, so that trivial
    checks cannot drown a wrong exit code. The best is 0.0, so plans are no way to gather reward. A plan whose program
    still waits for input has no outcome yet and no loss.

    Source: G. W. Brier, "Verification of forecasts expressed in terms of probability", Mon. Weather Rev. 78 (1950).
    """
    event = facts.result.event
    if event in (Event.MALFORMED, Event.REJECTED):
        return 1.0
    if not isinstance(facts.action, ActionPlan) or event is Event.WAITING_INPUT:
        return 0.0
    expected = facts.action.expected_exit_code
    exit_loss = 0.25 if expected is None else float(facts.result.exit_code != expected or event is Event.TIMEOUT)
    if not facts.validation:
        return exit_loss
    failed = sum(not check.passed for check in facts.validation)
    return 0.5 * exit_loss + 0.5 * failed / len(facts.validation)


def make_reward(name: str, weights: RewardWeights | None = None) -> Reward:
    """Return a reward by name.

    Args:
        name: ``terms`` (the eleven), ``success`` (1.0 once the goal is reached, else 0.0) or ``shaped`` (that, plus a
            potential over the goal checks).
        weights: Every number; ``success`` uses none, ``shaped`` only ``gamma``.

    Raises:
        ValueError: There is no reward of that name.
    """
    from termgym.reward.shaping import ShapedReward, SuccessReward  # they share this module's protocol

    if name == "terms":
        return RewardModel(weights)
    if name == "success":
        return SuccessReward()
    if name == "shaped":
        return ShapedReward(weights.gamma if weights is not None else RewardWeights().gamma)
    raise ValueError(f"reward {name!r} is unknown; allowed are 'terms', 'success' and 'shaped'")
