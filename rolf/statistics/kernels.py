"""Kernels: statistics of many resamples at once.

A resample of variants is how often each of them counts, so no score is copied, and what takes sorting is sorted once.
Where attempts are drawn as well, scores differ from resample to resample and have its axis in front. Sums are taken
row by row, so that a resample's figure does not depend on which others were computed with it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ParamSpec

import numpy as np

from rolf.statistics.scores import Counts, Floats

P = ParamSpec("P")
Kernel = Callable[..., Floats]
"""Computes a statistic of many resamples; its parameters, such as k, by name."""
Compute = Callable[[Floats, Counts], Floats]
"""A kernel with its parameters: of scores (…, variants, attempts) and how often each variant counts (…, variants)."""
KERNELS: dict[Callable[..., Any], Kernel] = {}
"""Statistic -> what computes it for many resamples."""
QUARTER = 0.25
"""What the interquartile mean leaves out at either end."""


def batched(kernel: Kernel) -> Callable[[Callable[P, float]], Callable[P, float]]:
    """Return a decorator that says what computes a statistic for many resamples."""

    def register(statistic: Callable[P, float]) -> Callable[P, float]:
        KERNELS[statistic] = kernel
        return statistic

    return register


def kernel(statistic: Callable[..., Any]) -> Compute:
    """Return what computes a statistic for many resamples; one of your own is called once for each.

    Args:
        statistic: One of this package, ``functools.partial(pass_at_k, k=3)``, or any function of scores.
    """
    inner = statistic.func if isinstance(statistic, partial) else statistic
    known = KERNELS.get(inner)
    if known is None:
        return partial(one_by_one, statistic)
    if isinstance(statistic, partial):
        if statistic.args:
            raise ValueError(f"{statistic!r} fixes arguments by place; name them: partial({inner.__name__}, k=3)")
        return partial(known, **statistic.keywords)
    return known


def one_by_one(statistic: Callable[[Floats], float], scores: Floats, counts: Counts) -> Floats:
    """Compute somebody's own statistic: (…, variants, attempts), (resamples, variants) -> (resamples,)."""
    tables = np.broadcast_to(scores, (*counts.shape, scores.shape[-1]))
    return np.array([statistic(np.repeat(one, count, axis=0)) for one, count in zip(tables, counts, strict=True)])


def mean(scores: Floats, counts: Counts) -> Floats:
    """Mean over variants of the mean over their attempts."""
    return weighted(row_means(scores), counts)


def median(scores: Floats, counts: Counts) -> Floats:
    """Median over variants of the mean over their attempts."""
    means, taken = _in_order(row_means(scores)[..., None], counts)
    reached = np.cumsum(taken, axis=-1)
    total = reached[..., -1:]
    low = (reached > (total - 1) // 2).argmax(-1)
    high = (reached > total // 2).argmax(-1)
    return (_at(means, low) + _at(means, high)) / 2.0


def iqm(scores: Floats, counts: Counts) -> Floats:
    """Mean of the middle half of all scores."""
    values, taken = _in_order(scores, counts)
    reached = np.cumsum(taken, axis=-1)
    total = reached[..., -1:]
    cut = (QUARTER * total).astype(np.int64)
    inside = np.clip(reached, cut, total - cut)
    before = np.concatenate([cut, inside[..., :-1]], axis=-1)
    means: Floats = _row_sums((inside - before) * values) / (total - 2 * cut)[..., 0]
    return means


def optimality_gap(scores: Floats, counts: Counts, threshold: float = 1.0) -> Floats:
    """What is missing to the threshold, on average."""
    return threshold - mean(np.minimum(scores, threshold), counts)


def profile(scores: Floats, counts: Counts, thresholds: Floats) -> Floats:
    """Share above each threshold: (…, variants, attempts), (…, variants) -> (…, thresholds)."""
    above = (scores[..., None] > thresholds).sum(-2, dtype=np.float64)
    attempts = np.isfinite(scores).sum(-1)
    shares: Floats = np.zeros((*counts.shape[:-1], len(thresholds)))
    # Of variants with the same number of attempts the sum is one of whole numbers, and exact in whatever order.
    for number in np.unique(attempts[attempts > 0]):
        taken = np.where(attempts == number, counts, 0).astype(np.float64)
        shares += (taken[..., None, :] @ above)[..., 0, :] / number
    shares /= counts.sum(-1)[..., None]
    return shares


def pass_at_k(scores: Floats, counts: Counts, k: int) -> Floats:
    """Probability that at least one of k attempts succeeds."""
    return 1.0 - weighted(_all_of((scores == 0.0).sum(-1), scores, k), counts)


def pass_hat_k(scores: Floats, counts: Counts, k: int) -> Floats:
    """Probability that all of k attempts succeed."""
    return weighted(_all_of((scores == 1.0).sum(-1), scores, k), counts)


def _all_of(kind: Counts, scores: Floats, k: int) -> Floats:
    """Return C(kind, k) / C(attempts, k): the chance that k attempts, drawn without replacement, are of a kind."""
    attempts = np.isfinite(scores).sum(-1)
    chance: Floats = np.ones(kind.shape)
    for drawn in range(k):
        chance = chance * np.maximum(kind - drawn, 0.0) / np.maximum(attempts - drawn, 1)
    return chance


def row_means(scores: Floats) -> Floats:
    """Return the mean over the attempts that count; 0 of padding, which has none and counts for nothing."""
    finite = np.isfinite(scores)
    means: Floats = _row_sums(np.where(finite, scores, 0.0)) / np.maximum(finite.sum(-1), 1)
    return means


def weighted(values: Floats, counts: Counts) -> Floats:
    """Return means of values (…, variants), each as often as it counts (…, variants)."""
    means: Floats = _row_sums(counts * values) / counts.sum(-1)
    return means


def _in_order(scores: Floats, counts: Counts) -> tuple[Floats, Counts]:
    """Return all scores that count, from the lowest to the highest, and how often each does; the rest 0 times."""
    flat = scores.reshape(*scores.shape[:-2], -1)
    if flat.ndim == 1:
        order = np.argsort(flat, kind="stable")
        values = flat[order]
        taken = np.take(counts, order // scores.shape[-1], axis=-1) * np.isfinite(values)
    else:  # each resample has its own, once each or not at all: sorting them is quicker than sorting their places
        values = np.sort(np.where(np.repeat(counts > 0, scores.shape[-1], axis=-1), flat, np.nan), axis=-1)
        taken = np.isfinite(values).astype(np.int64)
    return np.where(np.isfinite(values), values, 0.0), taken


def _row_sums(values: Floats) -> Floats:
    """Return sums over the last axis, each by itself: in memory in that order, else NumPy would add across rows."""
    sums: Floats = np.ascontiguousarray(values).sum(-1)
    return sums


def _at(values: Floats, index: Counts) -> Floats:
    """Return one value a resample, of sorted ones that all share or that each has its own of."""
    picked: Floats = values[index] if values.ndim == 1 else np.take_along_axis(values, index[..., None], -1)[..., 0]
    return picked
