"""Contestants: the policies that come with the line, each under a name that ``rolf eval --policy`` takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from linegym.policies import Policy

POLICIES = (
    ("no-op", "no_op", "does nothing", False),
    ("random", "random", "chooses evenly among what is possible", False),
    (
        "threshold",
        "threshold",
        "answers alarms by rules over the newest readings; orders parts once it lacks them",
        False,
    ),
    ("cusum", "cusum", "weighs evidence over time, inspects where it is in doubt, keeps parts in store", False),
    ("oracle-diagnosis", "oracle_diagnosis", "is told every fault; orders and sends as cusum does", True),
    ("oracle-dispatch", "oracle_dispatch", "finds faults as cusum does; orders and sends as the oracle does", True),
    ("oracle", "oracle", "is told every fault, and orders and sends by it", True),
)
"""(name, function here, what it does, whether it is told the faults), from the worst to the best."""


def no_op() -> Policy:
    """Return ``linegym.policies.idle``."""
    return _made("no-op")


def random() -> Policy:
    """Return ``linegym.policies.chance``."""
    return _made("random")


def threshold() -> Policy:
    """Return ``linegym.policies.threshold`` at a simple desk."""
    return _made("threshold")


def cusum() -> Policy:
    """Return ``linegym.policies.cusum`` at a desk that orders ahead."""
    return _made("cusum")


def oracle_diagnosis() -> Policy:
    """Return ``linegym.policies.oracle`` at the desk of cusum."""
    return _made("oracle diagnosis")


def oracle_dispatch() -> Policy:
    """Return ``linegym.policies.cusum`` at the desk of the oracle."""
    return _made("oracle dispatch")


def oracle() -> Policy:
    """Return ``linegym.policies.oracle`` at a desk that knows what will be needed."""
    return _made("oracle")


def _made(name: str) -> Policy:
    from linegym.policies import policy  # only when one plays: to list them takes no time

    return policy(name)
