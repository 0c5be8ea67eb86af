"""Whole episodes of many lines under a policy: what baselines, ladder and attribution are counted from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Self

import numpy as np
from numpy.typing import NDArray

from linegym.actions import COMMANDS
from linegym.batch import Batch
from linegym.layout import FACTS
from linegym.plant import HORIZON
from linegym.policies.policy import Lineup, Policy
from linegym.variants import Variant

BLOCK = 1024
"""Rows that are played together: enough to share the cost of a call, few enough for the processor's caches."""

Reals = NDArray[np.float64]
Wholes = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Played:
    """What came of episodes, a row each."""

    returns: Reals
    """sum of the rewards"""
    output: Wholes
    """parts finished"""
    faults: Wholes
    """faults that appeared"""
    faults_due: Wholes
    """of them, early enough to count"""
    closed: Wholes
    """work orders closed rightly"""
    closed_due: Wholes
    """of them, those that count for success"""
    wrong: Wholes
    """closed in vain, and real faults dismissed"""
    late: Wholes
    success: NDArray[np.bool_]

    @classmethod
    def joined(cls, parts: Sequence[Played]) -> Self:
        """Return the rows of several, one after the other."""
        return cls(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)))


def play(
    policy: Policy,
    variants: Sequence[Variant],
    seeds: Sequence[int] | NDArray[np.uint64],
    *,
    episode: int = 0,
    horizon: int = HORIZON,
    evaluation: bool = True,
    threads: int = 1,
) -> Played:
    """Play an episode of each variant.

    Args:
        policy: Who plays; it is told to begin anew.
        variants: Of each row.
        seeds: Of each row.
        episode: The number of the episode under each row's seed.
        horizon: Ticks of an episode.
        evaluation: Draw from the evaluation namespace of the seeds.
        threads: Threads to step with.
    """
    given = np.asarray(seeds, np.uint64)
    parts = []
    for first in range(0, len(variants), BLOCK):
        rows = slice(first, first + BLOCK)
        batch = Batch(variants[rows], horizon=horizon, autoreset="disabled", evaluation=evaluation, threads=threads)
        batch.reset(given[rows])
        for _ in range(episode):
            batch.reset()
        episodes = np.full(batch.n, episode, np.uint64)
        parts.append(_played(policy, batch, Lineup.of(variants[rows], given[rows], episodes, horizon)))
    return Played.joined(parts)


def _played(policy: Policy, batch: Batch, lineup: Lineup) -> Played:
    """Play the episodes that have just begun in a batch to their end."""
    policy.begin(lineup)
    returns = np.zeros(batch.n)
    for _ in range(batch.horizon):
        infos = {"true_faults": batch.faults()} if policy.truthful else {}
        actions = policy.act(batch.observations, batch.masks, infos)
        batch.step(COMMANDS[actions][:, None])
        returns += batch.rewards
    told = {name: batch.facts[:, column].copy() for column, name in enumerate(FACTS)}
    counts = {field.name: told[field.name] for field in fields(Played) if field.name in told}
    return Played(**{**counts, "returns": returns, "success": told["success"] == 1})
