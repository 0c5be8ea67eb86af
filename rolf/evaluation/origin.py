"""Origin: what the module behind an environment says for evaluation, and what holds of one that says nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from rolf.environments import environments
from rolf.evaluation.episode import Ending, Measured
from rolf.evaluation.evaluable import Bounded, Evaluable
from rolf.variant import Variant


@cache
def origins() -> dict[str, Evaluable]:
    """Return the installed environments that policies can be compared on, by Gymnasium id with its module."""
    return {env_id: module for env_id, module in environments().items() if isinstance(module, Evaluable)}


def origin(env_id: str) -> Evaluable | None:
    """Return the module behind an environment; None: it has none, and what follows holds of it."""
    return origins().get(env_id)


def hidden(env_id: str) -> frozenset[str]:
    """Return the keys of ``info`` that only privileged policies are shown; a stranger hides nothing."""
    found = origin(env_id)
    return frozenset(found.HIDDEN) if found is not None else frozenset()


def measure(variant: Variant, ending: Ending) -> Measured:
    """Return what an ending is worth.

    Of a stranger's environment: success is ``info["success"]``, False where it tells none; the score is 1 for success
    and 0 without it, and the return where it tells none; ``info["failure_kind"]`` is a fault of the machine.
    """
    found = origin(variant.env_id)
    if found is not None:
        return found.measure(variant, ending)
    failure = ending.info.get("failure_kind")
    success = bool(ending.info.get("success", False))
    score = float(success) if "success" in ending.info else math.fsum(ending.rewards)
    return Measured(success, score, fault="" if failure is None else str(failure))


def bounds(variants: Sequence[Variant]) -> tuple[float, float] | None:
    """Return the least and the greatest score that there can be of any; None: nobody knows, as of a stranger's."""
    every: list[tuple[float, float]] = []
    for variant in variants:
        found = origin(variant.env_id)
        known = found.bounds(variant) if isinstance(found, Bounded) else None
        if known is None:
            return None
        every.append(known)
    return min(low for low, _ in every), max(high for _, high in every)


def reseeded(variant: Variant, seed: int) -> Variant:
    """Return the same problem with other random numbers; of a stranger's, the seeds of its attempts are others."""
    found = origin(variant.env_id)
    return found.reseeded(variant, seed) if found is not None else replace(variant, seed=seed)
