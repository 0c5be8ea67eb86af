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
