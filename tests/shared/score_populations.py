"""Populations of variants to draw scores from, whose figures are known: what intervals are tried on."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from rolf.statistics import iqm, mean

Floats = NDArray[np.float64]
Drawn = tuple[Floats, NDArray[np.int64]]
"""Scores (variants, attempts), and the cluster of each variant."""
Population = Callable[[np.random.Generator, int], Drawn]
"""Draws so many clusters."""
MANY, ROUNDS = 20_000, 20


def successes(a: float, b: float, attempts: int, draw: np.random.Generator, clusters: int) -> Drawn:
    """Draw variants that are passed with a chance of their own, Beta(a, b) over variants."""
    chance = draw.beta(a, b, clusters)
    return (draw.random((clusters, attempts)) < chance[:, None]).astype(np.float64), np.arange(clusters)


def templates(draw: np.random.Generator, clusters: int) -> Drawn:
    """Draw templates of 1 to 15 variants that resemble each other (correlation about 0.5), five attempts at each."""
    owner = np.repeat(np.arange(clusters), draw.integers(1, 16, clusters))
    logit = 0.5 + draw.normal(0.0, 1.0, clusters)[owner] + draw.normal(0.0, 0.7, len(owner))
    return (draw.random((len(owner), 5)) < 1.0 / (1.0 + np.exp(-logit[:, None]))).astype(np.float64), owner


def skewed(draw: np.random.Generator, clusters: int) -> Drawn:
    """Draw scores most of which are near 0 and some near 1."""
    level = draw.beta(0.3, 1.2, clusters)
    return np.clip(level[:, None] + 0.05 * draw.standard_normal((clusters, 5)), 0.0, 1.0), np.arange(clusters)


POPULATIONS: dict[str, Population] = {
    "even": partial(successes, 2.0, 2.0, 5),
    "hard": partial(successes, 0.5, 4.5, 5),
    "easy": partial(successes, 9.0, 1.0, 5),
    "one attempt": partial(successes, 0.5, 4.5, 1),
    "ten attempts": partial(successes, 2.0, 2.0, 10),
    "templates": templates,
    "skewed": skewed,
}


@cache
def true_mean(name: str) -> float:
    """Return the mean over all variants of a population, from two hundred thousand clusters and more."""
    draw = np.random.default_rng(99)
    return float(np.mean([mean(POPULATIONS[name](draw, MANY)[0]) for _ in range(ROUNDS)]))


@cache
def true_iqm(name: str) -> float:
    """Return the interquartile mean of a population."""
    draw = np.random.default_rng(99)
    return float(np.mean([iqm(POPULATIONS[name](draw, MANY)[0]) for _ in range(ROUNDS)]))
