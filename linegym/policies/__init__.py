"""Policies that come with the line: yardsticks for whatever learns, from doing nothing to knowing everything."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from linegym.errors import ArgumentError, did_you_mean
from linegym.policies.chance import Chance
from linegym.policies.composed import Composed
from linegym.policies.cusum import Cusum
from linegym.policies.desk import Desk
from linegym.policies.idle import Idle
from linegym.policies.oracle import Oracle
from linegym.policies.policy import Lineup, Policy
from linegym.policies.threshold import Threshold

__all__ = ["POLICIES", "Lineup", "Policy", "policy"]

POLICIES: Mapping[str, Callable[[], Policy]] = {
    "no-op": Idle,
    "random": Chance,
    "threshold": lambda: Composed("threshold", Threshold(), Desk("claimed")),
    "cusum": lambda: Composed("cusum", Cusum(), Desk("ahead")),
    "oracle diagnosis": lambda: Composed("oracle diagnosis", Oracle(), Desk("ahead")),
    "oracle dispatch": lambda: Composed("oracle dispatch", Cusum(), Desk("known", skilled=True, spare=2)),
    "oracle": lambda: Composed("oracle", Oracle(), Desk("known", skilled=True, spare=2)),
}
"""By name, from the worst to the best; two mix expert and oracle, and tell which half lacks more."""


def policy(name: str) -> Policy:
    """Return a policy that nobody has begun with yet.

    Raises:
        ArgumentError: none has that name.
    """
    if name not in POLICIES:
        raise ArgumentError(
            f"no policy is named {name!r}{did_you_mean(name, POLICIES)}; they are {', '.join(POLICIES)}"
        )
    return POLICIES[name]()
