"""Improvement: how often one policy is better than another."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rolf.statistics.aggregates import mean
from rolf.statistics.intervals import Interval, Labels, interval
from rolf.statistics.scores import Floats, paired


def probability_of_improvement(a: ArrayLike, b: ArrayLike) -> float:
    """Return how likely an attempt of the first scores above one of the second on the same variant; a tie counts half.

    The Mann-Whitney statistic of each variant, as a share of its pairs, mean over variants. 0.5: neither is better.

        >>> probability_of_improvement([[1.0, 1.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]])
        0.625

    Args:
        a: (variants, attempts), NaN where the machine failed.
        b: The same variants; attempts may be another number.

    Raises:
        ValueError: a variant has no attempt that counts, or they are not such tables of the same variants.
    """
    return mean(_better(a, b)[:, None])


def improvement_interval(
    a: ArrayLike, b: ArrayLike, clusters: Labels = None, *, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> Interval:
    """Return the probability of improvement with its bootstrap interval over new variants; options as of `interval`.

    Raises:
        ValueError: scores, clusters or an option are not that; says what to do.
    """
    better = _better(a, b)[:, None]
    return interval(mean, better, clusters, level=level, resamples=resamples, seed=seed, bounds=(0.0, 1.0))


def _better(a: ArrayLike, b: ArrayLike) -> Floats:
    """Return, for each variant, the share of pairs of attempts that the first wins; a tie counts half."""
    first, second = paired(a, b)
    pairs = np.isfinite(first)[:, :, None] & np.isfinite(second)[:, None, :]
    difference = first[:, :, None] - second[:, None, :]
    won = (np.sign(difference, where=pairs, out=np.zeros_like(difference)) + 1.0) / 2.0
    better: Floats = (won * pairs).sum((1, 2)) / pairs.sum((1, 2))
    return better
