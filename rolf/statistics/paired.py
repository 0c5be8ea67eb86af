"""Paired comparison: two policies on the same variants.

What makes a variant hard is in both scores and drops out of their difference, so a paired comparison sees differences
that two intervals side by side do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import exp, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rolf.statistics.aggregates import mean
from rolf.statistics.intervals import Bounds, Labels, interval, within
from rolf.statistics.kernels import row_means
from rolf.statistics.power import minimum_detectable_difference
from rolf.statistics.resampling import Uniforms
from rolf.statistics.scores import Counts, Floats, grouped, paired

SIGNS = 2
"""What random numbers are for; see `resampling`."""
EXACT = 12
"""Clusters up to which all flips of signs are gone through."""
FLIPS = 10_000
"""Flips of signs that are drawn where there are more."""
SLACK = 1e-12
"""Relative; two sums of the same numbers in another order are equal."""


@dataclass(frozen=True, slots=True)
class Difference:
    """How far one policy is above another on the same variants."""

    estimate: float
    """Mean over variants of the first's mean less the second's."""
    low: float | None
    """None: there is a single cluster, which tells nothing of others."""
    high: float | None
    level: float
    p_value: float
    """How often a difference as large comes about when neither is better: by flipping the signs of whole clusters."""
    detectable: float | None
    """Smallest true difference that such a comparison finds four times out of five; None: a single cluster."""
    variants: int
    clusters: int

    @property
    def decided(self) -> bool:
        """Whether zero lies outside the interval."""
        return self.low is not None and self.high is not None and not self.low <= 0.0 <= self.high

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return f"{self.estimate:+.3f} [of one cluster alone]"
        return f"{self.estimate:+.3f} [{self.low:+.3f}, {self.high:+.3f}], p = {self.p_value:.4f}"


def paired_difference(
    a: ArrayLike,
    b: ArrayLike,
    clusters: Labels = None,
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    bounds: Bounds = None,
) -> Difference:
    """Return the difference of the means of two policies on the same variants; options as of `interval`.

    Args:
        a: (variants, attempts), NaN where the machine failed.
        b: The same variants; attempts may be another number, their seeds need not be the same but are best so.
        clusters: One label a variant; those of one cluster are drawn together. None: each on its own.
        level: How often such intervals hold the truth.
        resamples: How many are drawn.
        seed: The same gives the same interval.
        bounds: Least and greatest score that there can be; see `interval`.

    Raises:
        ValueError: scores, clusters or an option are not that; says what to do.
    """
    first, second = paired(a, b)
    for table in (first, second):
        within(table, bounds)
    difference = row_means(first) - row_means(second)
    owner = grouped(clusters, len(difference))
    apart = None if bounds is None else (bounds[0] - bounds[1], bounds[1] - bounds[0])
    found = interval(mean, difference[:, None], clusters, level=level, resamples=resamples, seed=seed, bounds=apart)
    detectable = None
    if found.clusters > 1:
        sd = standard_error(difference, owner) * sqrt(found.clusters)
        detectable = minimum_detectable_difference(sd, found.clusters, level=level)
    chance = sign_flips(np.bincount(owner, weights=difference).astype(np.float64), seed)
    return Difference(found.estimate, found.low, found.high, level, chance, detectable, found.variants, found.clusters)


def standard_error(values: Floats, owner: Counts) -> float:
    """Return the standard error of a mean over variants, (variants,), that are drawn by clusters.

    The linearised ratio of what clusters add up to and how many variants they have, with the factor for few clusters.
    """
    clusters = int(owner.max()) + 1
    residuals = np.bincount(owner, weights=values - values.mean())
    return float(sqrt(clusters / (clusters - 1) * (residuals**2).sum()) / len(values))


def sign_flips(sums: Floats, seed: int) -> float:
    """Return how often the sum of clusters, each with a random sign, is as far from zero as it is.

    All signs are gone through where there are few clusters, else the observed ones count as one of those drawn. What no
    number of draws could show has Hoeffding's bound ("Probability inequalities for sums of bounded random variables",
    1963): a board of many policies multiplies p-values by the number of its pairs.
    """
    if len(sums) <= EXACT:
        signs = np.array(list(product((-1.0, 1.0), repeat=len(sums))))
        return float(_as_far(signs, sums).mean())
    bound = 2.0 * exp(-(float(sums.sum()) ** 2) / (2.0 * float((sums**2).sum()))) if sums.any() else 1.0
    if bound < 1.0 / (1 + FLIPS):
        return bound
    uniforms = Uniforms(seed, SIGNS)
    step = max(1, (1 << 20) // len(sums))
    hits = 0
    for start in range(0, FLIPS, step):
        heads = uniforms.coins((min(step, FLIPS - start), len(sums)))
        hits += int(_as_far(2.0 * heads - 1.0, sums).sum())
    return (1 + hits) / (1 + FLIPS)


def _as_far(signs: NDArray[Any], sums: Floats) -> NDArray[np.bool_]:
    """Return which flips are at least as far from zero as what was observed."""
    far: NDArray[np.bool_] = np.abs(signs @ sums) >= abs(sums.sum()) - SLACK * np.abs(sums).sum()
    return far
