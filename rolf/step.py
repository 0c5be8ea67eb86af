"""One step as a person would tell it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Step:
    """What one call of ``step`` came to."""

    command: str
    stdout: str
    stderr: str
    cwd: str
    """Where the shell was when the command was given."""
    event: str
    exit_code: int
    reward: float
    terms: Mapping[str, float]
    """What the reward is made of; sums to it."""
    checks: tuple[tuple[str, bool], ...]
    """Each check in words, the plan's own and the goal's, and whether it passed."""
    seconds: float
    """Time that `step` took [s]."""
    info: Mapping[str, Any]

    @property
    def goal(self) -> tuple[tuple[str, bool], ...]:
        """Those of the checks that are the task's."""
        return self._checks_of(True)

    @property
    def own_checks(self) -> tuple[tuple[str, bool], ...]:
        """Those of the checks that the plan asked for."""
        return self._checks_of(False)

    def _checks_of(self, goal: bool) -> tuple[tuple[str, bool], ...]:
        origins = [check["of"] == "goal" for check in self.info["checks"]]
        return tuple(check for check, of_goal in zip(self.checks, origins, strict=True) if of_goal is goal)

    @property
    def charges(self) -> tuple[str, ...]:
        """What a rule was broken by, where that cost something."""
        said = [f"safety: broke {', '.join(self.info['violations'])}"] if self.terms.get("safety") else []
        if self.terms.get("capability"):
            said.append("capability: a privileged operation without a look at the rights first (id, ls -l, getcap …)")
        return tuple(said)


def tell(
    command: str,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    reward: float,
    info: Mapping[str, Any],
    seconds: float,
) -> Step:
    """Return what one call of ``step`` gave in a form to be shown."""
    return Step(
        command=command,
        stdout=after["stdout"],
        stderr=after["stderr"],
        cwd=before["cwd"],
        event=info["event"],
        exit_code=int(after["exit_code"][0]),
        reward=reward,
        terms=info["reward_terms"],
        checks=tuple((f"{check['of']}: {check['check']}", bool(check["passed"])) for check in info["checks"]),
        seconds=seconds,
        info=info,
    )
