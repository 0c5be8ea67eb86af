"""Aggregates: many scores in one number."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rolf.statistics import kernels
from rolf.statistics.kernels import batched
from rolf.statistics.scores import Counts, Floats, checked


def once(table: Floats) -> Counts:
    """Return that every variant counts once."""
    return np.ones(len(table), dtype=np.int64)


@batched(kernels.mean)
def mean(scores: ArrayLike) -> float:
    """Return the mean over variants of the mean over their attempts: every variant weighs the same.

        >>> mean([[1.0, 0.0], [1.0, float("nan")]])
        0.75

    Args:
        scores: (variants, attempts), NaN where the machine failed.

    Raises:
        ValueError: a variant has no attempt that counts, or it is no such table.
    """
    table = checked(scores)
    return float(kernels.mean(table, once(table)))


@batched(kernels.median)
def median(scores: ArrayLike) -> float:
    """Return the median over variants of the mean over their attempts.

    Args:
        scores: (variants, attempts), NaN where the machine failed.

    Raises:
        ValueError: a variant has no attempt that counts, or it is no such table.
    """
    table = checked(scores)
    return float(kernels.median(table, once(table)))


@batched(kernels.iqm)
def iqm(scores: ArrayLike) -> float:
    """Return the interquartile mean: a quarter of all scores is left out at either end, rounded down.

        >>> iqm([[0.0, 1.0], [2.0, 9.0]])
        1.5

    Args:
        scores: (variants, attempts), NaN where the machine failed.

    Raises:
        ValueError: a variant has no attempt that counts, or it is no such table.
    """
    table = checked(scores)
    return float(kernels.iqm(table, once(table)))


@batched(kernels.optimality_gap)
def optimality_gap(scores: ArrayLike, threshold: float = 1.0) -> float:
    """Return what is missing to the threshold, on average; what lies above it makes up for nothing.

    Args:
        scores: (variants, attempts), NaN where the machine failed.
        threshold: What is good enough.

    Raises:
        ValueError: a variant has no attempt that counts, it is no such table, or the threshold is no number.
    """
    table = checked(scores)
    if not np.isfinite(threshold):
        raise ValueError(f"threshold = {threshold!r}; give the score that is good enough, such as 1.0")
    return float(kernels.optimality_gap(table, once(table), threshold))
