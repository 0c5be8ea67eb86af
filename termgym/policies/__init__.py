"""Policies that come with the terminal: yardsticks for whatever learns, from giving up at once to the solution."""

from __future__ import annotations

from collections.abc import Mapping

from rolf.evaluation.policy import PolicyEntry

__all__ = ["POLICIES"]

POLICIES: Mapping[str, PolicyEntry] = {
    entry.name: entry
    for entry in (
        PolicyEntry("no-op", "termgym.policies.idle:Idle", "submits at once", deterministic=True),
        PolicyEntry("random", "termgym.policies.chance:Chance", "ordinary commands on what it comes across, at random"),
        PolicyEntry("rules", "termgym.policies.rules:Rules", "what error messages usually mean", deterministic=True),
        PolicyEntry(
            "oracle", "termgym.policies.oracle:Oracle", "the task's own solution", privileged=True, deterministic=True
        ),
    )
}
"""By name, from the worst to the best."""
