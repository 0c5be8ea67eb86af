"""Ends: from resamples to an interval.

Over new variants the ends are bias-corrected, accelerated percentiles (BCa: Efron, "Better bootstrap confidence
intervals", 1987), taken at normal quantiles that are stretched to what Student's t asks of few clusters (Hesterberg,
"What teachers should know about the bootstrap", 2015, section 4.2). Of seven candidates these kept closest to the level
in simulation, from 10 clusters up; plain percentiles of 10 clusters held the truth in 85 to 91 % instead of 95 %, and
intervals of ± t standard errors missed on the side of the long tail.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np

from rolf.statistics.kernels import Compute
from rolf.statistics.quantiles import NORMAL, student
from rolf.statistics.scores import Floats

FINE = 10_000
"""How finely shares are told in counts of variants."""
SLACK = 1e-12
"""Relative; sums of the same numbers in another order are equal."""
NEAR = 1e-3
"""How near to its pole the acceleration goes."""


def percentiles(values: Floats, level: float) -> Floats:
    """Return the plain percentiles of resamples: (resamples, …) -> (2, …)."""
    tail = (1.0 - level) / 2.0
    ends: Floats = np.quantile(values, [tail, 1.0 - tail], axis=0)
    return ends


def accelerated(estimate: Floats, values: Floats, without: Floats, level: float) -> Floats:
    """Return the ends of intervals over new variants.

    Args:
        estimate: (…) of all that was observed.
        values: (resamples, …)
        without: (clusters, …) each cluster left out in turn.
        level: How often the intervals hold the truth.

    Returns:
        (2, …)
    """
    resamples, clusters = len(values), len(without)
    slack = SLACK * np.abs(values).max(0)
    under = ((values < estimate - slack).mean(0) + (values <= estimate + slack).mean(0)) / 2.0
    bias = _each(NORMAL.inv_cdf, np.clip(under, 1.0 / (resamples + 1), resamples / (resamples + 1)))
    pull = without.mean(0) - without
    spread = (pull**2).sum(0)
    skew = (pull**3).sum(0) / np.where(spread > 0.0, 6.0 * spread**1.5, 1.0)
    reach = sqrt(clusters / (clusters - 1)) * student((1.0 + level) / 2.0, clusters - 1)
    moved = bias + np.multiply.outer(np.array([-reach, reach]), np.ones_like(bias))
    # At its pole the correction would turn round: few clusters, of which one differs from all others.
    bent = moved / np.maximum(1.0 - skew * moved, NEAR)
    places = _each(NORMAL.cdf, bias + bent)
    return _quantiles(np.sort(values, axis=0), places)


def unseen(compute: Compute, table: Floats, clusters: int, level: float, bounds: tuple[float, float]) -> Floats:
    """Return the figure with what may have gone unseen at either bound, (2,): what resamples know nothing of.

    With a chance of half of what the level leaves, a share of all clusters as large as this is not among those seen;
    the figure is taken with that share at either bound. Of successes alone it is the interval of Clopper and Pearson.
    """
    share = 1.0 - ((1.0 - level) / 2.0) ** (1.0 / clusters)
    more = round(share / (1.0 - share) * len(table) * FINE)
    counts = np.concatenate([np.full(len(table), FINE), [more]])
    rows = [np.full((1, table.shape[1]), bound) for bound in bounds]
    return np.concatenate([compute(np.concatenate([table, row]), counts[None]) for row in rows])


def _each(function: Callable[[float], float], values: Floats) -> Floats:
    """Return a function of each value."""
    flat = [function(float(value)) for value in np.ravel(values)]
    return np.array(flat, dtype=np.float64).reshape(np.shape(values))


def _quantiles(ordered: Floats, places: Floats) -> Floats:
    """Return quantiles at a place of its own for each figure: (resamples, …), (2, …) -> (2, …)."""
    position = places * (len(ordered) - 1)
    low = np.floor(position).astype(np.int64)
    high = np.minimum(low + 1, len(ordered) - 1)
    left, right = np.take_along_axis(ordered, low, 0), np.take_along_axis(ordered, high, 0)
    ends: Floats = left + (position - low) * (right - left)
    return ends
