"""Validation: can an episode of a variant be won by knowing the truth, and only by doing something?"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from linegym.errors import VariantError
from linegym.policies import POLICIES, Lineup
from linegym.splits import SETS
from linegym.variants import Variant, split, variant
from linegym.vector import LineVectorEnv
from rolf.environments import Verdict


def validate_all(names: Sequence[str], seeds: int) -> Iterator[Verdict]:
    """Validate one episode of the first ``seeds`` variants of each set, or ``seeds`` of each variant named.

    The episodes of a name are played together, so that the time of each is its share.

    Args:
        names: Sets or ids; none: all sets.
        seeds: How many of each.

    Raises:
        LookupError: there is no set or variant of that name.
    """
    for name in names or tuple(SETS):
        variants = _instances(name, seeds)
        began = time.perf_counter()
        found = _problems(variants)
        seconds = (time.perf_counter() - began) / len(variants)
        for seed, (each, problems) in enumerate(zip(variants, found, strict=True)):
            yield Verdict(f"{each.id}@{seed}", problems, seconds)


def _instances(name: str, seeds: int) -> list[Variant]:
    try:
        if "/" in name:
            return [variant(name)] * seeds
        return list(split(name)[:seeds])
    except VariantError as error:
        raise LookupError(str(error)) from error


def _problems(variants: list[Variant]) -> list[tuple[str, ...]]:
    """Return what is wrong with each episode."""
    knowing, again = _played(variants, "oracle"), _played(variants, "oracle")
    idle = _played(variants, "no-op")
    found = []
    for row in range(len(variants)):
        told = {name: values[row] for name, values in knowing.items()}
        problems = []
        if told["digest"] != again["digest"][row]:
            problems.append("the same seed and actions give another episode")
        if told["faults_due"] == 0:
            problems.append("nothing breaks early enough to count")
        if not told["success"]:
            closed = f"{told['closed_due']} of {told['faults_due']} closed in time, output {told['output']}"
            problems.append(f"who knows the faults does not succeed: {closed}")
        if idle["success"][row]:
            problems.append("doing nothing succeeds")
        found.append(tuple(problems))
    return found


def _played(variants: list[Variant], name: str) -> dict[str, Any]:
    """Return the last information of episodes that a shipped policy plays, and the digests of their last states."""
    rows = len(variants)
    envs = LineVectorEnv(rows, variants, autoreset_mode="Disabled", evaluation=True)
    policy = POLICIES[name]()
    policy.begin(Lineup.of(variants, range(rows)))
    seen: Any  # flat, as the environment was made
    seen, infos = envs.reset(seed=0)
    over = False
    while not over:
        actions = policy.act(seen, infos["action_mask"].astype(np.bool_), infos)
        seen, _, _, ended, infos = envs.step(actions)
        over = bool(ended.all())
    return {**infos, "digest": [envs.state_digest(row) for row in range(rows)]}
