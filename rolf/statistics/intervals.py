"""Intervals: where a figure may lie for new variants of the same kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rolf.statistics.kernels import kernel
from rolf.statistics.quantiles import NORMAL, student
from rolf.statistics.resampling import METHODS, resampled
from rolf.statistics.scores import Counts, Floats, checked, grouped, share

Labels = Sequence[Any] | NDArray[Any] | None
"""One a variant: which cluster it belongs to."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure and where it may lie."""

    estimate: float
    low: float | None
    """None: there is a single cluster, which tells nothing of others."""
    high: float | None
    level: float
    """How often such an interval holds the truth: 0.95."""
    method: str
    variants: int
    clusters: int
    faults: int
    """Attempts that do not count."""

    def __contains__(self, value: float) -> bool:
        return self.low is None or self.high is None or self.low <= value <= self.high

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return f"{self.estimate:.3f} [of one cluster alone]"
        return f"{self.estimate:.3f} [{self.low:.3f}, {self.high:.3f}]"


def interval(
    statistic: Callable[..., float],
    scores: ArrayLike,
    clusters: Labels = None,
    *,
    method: str = "cluster",
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """Return a statistic of scores with its bootstrap interval.

    Args:
        statistic: ``mean``, ``iqm``, ``partial(pass_hat_k, k=3)``, or any function of scores that returns a number.
        scores: (variants, attempts), NaN where the machine failed.
        clusters: One label a variant; those of one cluster are drawn together. None: each on its own.
        method: ``cluster``: over new variants; ``two-level``: attempts drawn as well, wider; ``stratified``: over new
            attempts at the very same variants.
        level: How often such intervals hold the truth.
        resamples: How many are drawn.
        seed: The same gives the same interval.

    Raises:
        ValueError: scores, clusters or an option are not that; says what to do.
    """
    table = checked(scores)
    owner = grouped(clusters, len(table))
    estimate = float(statistic(table))
    faults = int(np.isnan(table).sum())
    number = int(owner.max()) + 1
    low: float | None = None
    high: float | None = None
    if number > 1 or method == "stratified":
        values = replicates(kernel(statistic), table, owner, method, resamples, seed)
        low, high = (float(end) for end in ends(values, level, number if method != "stratified" else None))
        low, high = min(low, estimate), max(high, estimate)
    return Interval(estimate, low, high, level, method, len(table), number, faults)


def replicates(
    compute: Callable[[Floats, Counts], Floats], table: Floats, owner: Counts, method: str, resamples: int, seed: int
) -> Floats:
    """Return the statistic of each resample, (resamples, …).

    Raises:
        ValueError: there is no such method, too few resamples, or a seed that cannot be.
    """
    if method not in METHODS:
        raise ValueError(f"method {method!r} is not known; allowed are {', '.join(METHODS)}")
    if not 100 <= resamples <= 1_000_000:
        raise ValueError(f"resamples = {resamples!r}; give a whole number from 100 to 1000000, such as 2000")
    if not 0 <= seed < 1 << 64:
        raise ValueError(f"seed = {seed!r}; give a whole number from 0 to below 2**64")
    return np.concatenate([compute(*drawn) for drawn in resampled(table, owner, method, resamples, seed)])


def ends(values: Floats, level: float, clusters: int | None) -> Floats:
    """Return both ends of the interval: (resamples, …) -> (2, …).

    Percentiles of the resamples, at probabilities moved outwards for few clusters.
    """
    tail = (1.0 - share(level, "level")) / 2.0
    if clusters is not None:
        tail = NORMAL.cdf(sqrt(clusters / (clusters - 1)) * student(tail, clusters - 1))
    return np.quantile(values, [tail, 1.0 - tail], axis=0)
