"""Profiles: how many runs score above each threshold."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from rolf.statistics import kernels
from rolf.statistics.aggregates import once
from rolf.statistics.intervals import Labels, Plan
from rolf.statistics.scores import Floats, checked, grouped


@dataclass(frozen=True, slots=True)
class Band:
    """A performance profile and where it may lie, at each threshold on its own."""

    thresholds: Floats
    estimate: Floats
    low: Floats
    """NaN: there is a single cluster, which tells nothing of others."""
    high: Floats
    level: float


def performance_profile(scores: ArrayLike, thresholds: ArrayLike) -> Floats:
    """Return the share of runs whose score is above each threshold, (thresholds,): every variant weighs the same.

        >>> performance_profile([[0.0, 1.0], [0.5, 1.0]], [0.0, 0.5]).tolist()
        [0.75, 0.5]

    Args:
        scores: (variants, attempts), NaN where the machine failed.
        thresholds: Numbers, from left to right.

    Raises:
        ValueError: a variant has no attempt that counts, it is no such table, or a threshold is no number.
    """
    table = checked(scores)
    return kernels.profile(table, once(table), _thresholds(thresholds))


def profile_band(
    scores: ArrayLike,
    thresholds: ArrayLike,
    clusters: Labels = None,
    *,
    method: str = "cluster",
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Band:
    """Return the performance profile with a bootstrap interval at each threshold; arguments as of `interval`.

    Raises:
        ValueError: scores, thresholds, clusters or an option are not that; says what to do.
    """
    plan = Plan(method, level, resamples, seed)
    table, marks = checked(scores), _thresholds(thresholds)
    if clusters is None:
        table = table[np.lexsort(table.T[::-1])]
    owner = grouped(clusters, len(table))
    estimate = kernels.profile(table, once(table), marks)
    ends = plan.ends(partial(kernels.profile, thresholds=marks), table, owner, estimate)
    low, high = (np.full_like(estimate, np.nan),) * 2 if ends is None else ends
    return Band(marks, estimate, low, high, level)


def _thresholds(thresholds: ArrayLike) -> Floats:
    """Return thresholds as an array."""
    marks = np.asarray(thresholds, dtype=np.float64)
    if marks.ndim != 1 or not marks.size or not np.isfinite(marks).all():
        raise ValueError(f"thresholds {thresholds!r:.80} are no list of numbers; give such as numpy.linspace(0, 1, 51)")
    return marks
