"""Outcome: what an episode answers to an action, before it takes the shape of any interface."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any, NamedTuple

from termgym.event import Event
from termgym.result import StepResult
from termgym.reward.judge import Verdict
from termgym.session.capture import decode

INSTRUCTION_LIMIT = 65_536
"""Longest instruction [characters]."""
CWD_LIMIT = 4_096 + 16
"""Longest directory that is shown [characters]: PATH_MAX of linux/limits.h, and the kernel's " (deleted)"."""


class Outcome(NamedTuple):
    """All that a step (or the start of an episode) came to."""

    instruction: str
    stdout: str
    stderr: str
    cwd: str
    exit_code: int | None
    """None: no command ended in this step."""
    event: Event
    step: int
    """Steps taken, this one included; 0 at the start."""
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]
    """Only what the same actions bring about again; what is measured is in ``Episode.metrics``."""

    @property
    def ended(self) -> bool:
        """Whether the episode is over."""
        return self.terminated or self.truncated


def step_info(
    result: StepResult, verdict: Verdict | None, *, masked: bool = False, failure_kind: str | None = None
) -> dict[str, Any]:
    """Return a step's ``info``: only what the same actions bring about again."""
    info: dict[str, Any] = {
        "event": result.event.name,
        "success": False,
        "reward_terms": {},
        "checks": (),
        "violations": (),
        "output_truncated": result.truncated,
        "late_output": decode(result.late_output) if result.late_output else "",
        "respawned": result.respawned,
        "failure_kind": failure_kind,
        "masked": masked,
    }
    if verdict is None:
        return info
    facts = verdict.facts
    info["success"] = facts.success
    info["reward_terms"] = {name: value + 0.0 for name, value in verdict.terms.items()}  # -0.0 is no news
    info["violations"] = facts.violations
    if facts.validation or facts.goal:
        info["checks"] = tuple(
            {"of": of, "check": check.check, "passed": check.passed, "detail": check.detail}
            for of, checks in (("plan", facts.validation), ("goal", facts.goal))
            for check in checks
        )
    if verdict.verifier is not None:
        info["verifier"] = dict(verdict.verifier)
    if verdict.stage is not None:
        info["stage"] = dict(verdict.stage)
    if verdict.state_digest is not None:
        info.update(drift=facts.drift, diff=verdict.changes, state_digest=verdict.state_digest)
    return info


@lru_cache(maxsize=1024)
def shown_path(path: str) -> str:
    """Return a path as text that every trainer can encode: names on Linux are bytes."""
    return decode(os.fsencode(path))[:CWD_LIMIT]
