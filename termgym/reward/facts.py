"""What a step's reward and the observation may depend on, gathered in one place."""

from __future__ import annotations

from dataclasses import dataclass, field

from termgym.plan import Action
from termgym.result import StepResult


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check and what came of it."""

    check: str
    """The check in words, e.g. ``file_exists ./logs/out.log``."""
    passed: bool
    detail: str = ""
    """Why it did not pass: what was wanted, what was found."""


@dataclass(frozen=True, slots=True)
class StepFacts:
    """Everything about one finished step."""

    step: int
    """Steps taken before this one."""
    action: Action | None
    """None: the text was not an action."""
    result: StepResult
    validation: tuple[CheckResult, ...] = ()
    """The plan's own validation steps."""
    goal: tuple[CheckResult, ...] = ()
    """The task's goal checks, as far as they were evaluated: all for ``reward="shaped"``, else up to a failure."""
    success: bool = False
    """Whether the goal was looked at and holds; with a verifier, whether its reward is 1 or more."""
    score: float | None = None
    """How well it was done, from 0 to 1, where a verifier said so at the end; None: ``success`` is all there is."""
    ended: bool = False
    """Whether the episode ends with this step (terminated or truncated)."""
    drift: tuple[str, ...] = ()
    """At the end: paths changed outside what the task allows."""
    environment_active: bool = True
    """Whether the task's required variables have their values."""
    cpu_s: float | None = None
    """CPU time of the step [s]; None: not measured."""
    peak_bytes: int | None = None
    """Highest memory use of the step [bytes]; None: not measured."""
    gpu_peak_bytes: int | None = None
    """Highest GPU memory use of the step [bytes]; None: no GPU, or not measured."""
    unhealthy: bool = False
    """Whether the machine is over its thermal or health limit."""
    shell_broken: bool = False
    """Whether a shell no longer starts in the sandbox."""
    violations: tuple[str, ...] = field(default=())
    """Safety rules that the command breaks, by name."""
    unchecked_privilege: bool = False
    """Whether the command does something privileged without a capability or permission check before it."""

    @property
    def achieved(self) -> float:
        """The share of success that is paid, from 0 to 1."""
        return float(self.success) if self.score is None else self.score
