"""Intervals: where a figure may lie for new variants of the same kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rolf.statistics.ends import accelerated, percentiles, unseen
from rolf.statistics.kernels import Compute, kernel
from rolf.statistics.resampling import METHODS, left_out, resampled
from rolf.statistics.scores import Counts, Floats, checked, grouped, share

Labels = Sequence[Any] | NDArray[Any] | None
"""One a variant: which cluster it belongs to."""
Bounds = tuple[float, float] | None
"""Least and greatest score that there can be; (0, 1) of successes."""

FEW = 10
"""Clusters below which those not seen may be many: resamples of two variants, the better of which succeeded four times
out of ten, end at 0.4, where two variants without any success leave room up to 0.84."""
POINT = 1e-12
"""Width of an interval that is none: sums of the same numbers in another order."""


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


@dataclass(frozen=True, slots=True)
class Plan:
    """How intervals are drawn.

    Raises:
        ValueError: an option cannot be; says what is allowed.
    """

    method: str
    level: float
    resamples: int
    seed: int

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ValueError(f"method {self.method!r} is not known; allowed are {', '.join(METHODS)}")
        share(self.level, "level")
        if not 100 <= self.resamples <= 1_000_000:
            raise ValueError(f"resamples = {self.resamples!r}; give a whole number from 100 to 1000000, such as 2000")
        if not 0 <= self.seed < 1 << 64:
            raise ValueError(f"seed = {self.seed!r}; give a whole number from 0 to below 2**64")

    def ends(self, compute: Compute, table: Floats, owner: Counts, estimate: Floats) -> Floats | None:
        """Return both ends for each figure, (2, …); None where a single cluster tells nothing of others."""
        fixed = self.method == "stratified"
        if not fixed and not owner.any():
            return None
        drawn = resampled(table, owner, self.method, self.resamples, self.seed)
        values = np.concatenate([compute(*one) for one in drawn])
        if fixed:
            found = percentiles(values, self.level)
        else:
            without = np.concatenate([compute(*one) for one in left_out(table, owner)])
            found = accelerated(estimate, values, without, self.level)
        return np.stack([np.minimum(found[0], estimate), np.maximum(found[1], estimate)])


def interval(
    statistic: Callable[..., float],
    scores: ArrayLike,
    clusters: Labels = None,
    *,
    method: str = "cluster",
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    bounds: Bounds = None,
) -> Interval:
    """Return a statistic of scores with its bootstrap interval.

        >>> from rolf.statistics import mean
        >>> print(interval(mean, [[1, 1], [0, 1], [0, 0], [1, 0], [1, 1], [1, 1]]))
        0.667 [0.167, 1.000]

    Args:
        statistic: ``mean``, ``iqm``, ``partial(pass_hat_k, k=3)``, or any function of scores that returns a number.
        scores: (variants, attempts), NaN where the machine failed.
        clusters: One label a variant; those of one cluster are drawn together. None: each on its own.
        method: ``cluster``: over new variants; ``two-level``: attempts drawn as well, wider; ``stratified``: over new
            attempts at the very same variants.
        level: How often such intervals hold the truth.
        resamples: How many are drawn.
        seed: The same gives the same interval, in whatever order the variants come.
        bounds: Least and greatest score that there can be. Where no cluster differs from another, as when all succeed,
            resamples know of no spread and the interval is a point, unless bounds say what may have gone unseen. Of
            fewer than ten clusters the interval has room for that in any case.

    Raises:
        ValueError: scores, clusters or an option are not that; says what to do.
    """
    plan, compute = Plan(method, level, resamples, seed), kernel(statistic)
    table = checked(scores)
    within(table, bounds)
    if clusters is None:
        table = table[np.lexsort(table.T[::-1])]
    owner = grouped(clusters, len(table))
    estimate, number = float(statistic(table)), int(owner.max()) + 1
    ends = plan.ends(compute, table, owner, np.asarray(estimate))
    if ends is not None and bounds is not None and method != "stratified":
        ends = _with_room(ends, compute, table, number, level, bounds)
    low, high = (None, None) if ends is None else (float(ends[0]), float(ends[1]))
    return Interval(estimate, low, high, level, method, len(table), number, int(np.isnan(table).sum()))


def _with_room(
    ends: Floats, compute: Compute, table: Floats, clusters: int, level: float, bounds: tuple[float, float]
) -> Floats:
    """Return ends that leave room for clusters not seen, where there are few or none differs from another."""
    if ends[1] - ends[0] > POINT and clusters >= FEW:
        return ends
    wide = unseen(compute, table, clusters, level, bounds)
    return np.array([min(ends[0], *wide), max(ends[1], *wide)])


def within(table: Floats, bounds: Bounds) -> None:
    """Refuse bounds that scores lie outside of."""
    if bounds is None:
        return
    low, high = bounds
    if not low < high or np.nanmin(table) < low or np.nanmax(table) > high:
        found = f"[{np.nanmin(table):g}, {np.nanmax(table):g}]"
        raise ValueError(
            f"bounds = {bounds!r}, but scores lie in {found}; give the least and the greatest there can be"
        )
