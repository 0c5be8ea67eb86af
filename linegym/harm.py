"""Harm: what each family of perturbations cost of the score of an episode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import fsum

import numpy as np

from linegym.attribution import COALITIONS, Coalition, shapley
from linegym.contest import compete
from linegym.play import BLOCK
from linegym.policies.policy import Policy
from linegym.scores import score
from linegym.variants import FAMILIES, Variant

A_TIME = BLOCK // len(COALITIONS)
"""Episodes that are looked at together."""


def harms(player: Policy, variants: Sequence[Variant], seeds: Sequence[int]) -> Iterator[dict[str, float]]:
    """Yield what each family cost of the score of an episode; below 0 where it helped.

    The episode is played without each of the families that disturb it and without each group of them, while all else
    happens as it did. The costs are Shapley values (``linegym.attribution``): they add up to the score without any
    disturbance less the score as it was. Each run is scored by the baselines of its own variant, so that what a family
    takes from everybody, the oracle included, counts as nobody's failure.

    Args:
        player: Who plays.
        variants: Of each episode.
        seeds: Of each episode.
    """
    for first in range(0, len(variants), A_TIME):
        yield from _harms(player, variants[first : first + A_TIME], seeds[first : first + A_TIME])


def _harms(player: Policy, variants: Sequence[Variant], seeds: Sequence[int]) -> Iterator[dict[str, float]]:
    groups = [_groups(variant) for variant in variants]
    rows = [_under(variant, group) for variant, some in zip(variants, groups, strict=True) for group in some]
    drawn = [seed for seed, some in zip(seeds, groups, strict=True) for _ in some]
    rewards = compete(player, rows, drawn).rewards
    scores = iter([score(run, fsum(rewards[:, row].tolist())) for row, run in enumerate(rows)])
    for some in groups:
        reached = {group: next(scores) for group in some}
        runs = np.array([[reached[group & some[-1]] for group in COALITIONS]])
        yield {family: 0.0 - float(shapley(runs, family)[0]) for family in FAMILIES}


def _groups(variant: Variant) -> list[Coalition]:
    """Return the groups of the families that disturb a variant, from none to all of them."""
    active = {family for family, level in zip(FAMILIES, variant.levels, strict=True) if level != 0}
    return [group for group in COALITIONS if group <= active]


def _under(variant: Variant, group: Coalition) -> Variant:
    """Return the variant with these families alone, under the same random numbers."""
    return variant.without(*(family for family in FAMILIES if family not in group))
