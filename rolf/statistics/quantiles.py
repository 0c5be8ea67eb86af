"""Quantiles of Student's t, which NumPy and the standard library lack; the normal's are the standard library's."""

from __future__ import annotations

from functools import cache
from math import atan2, cos, pi, sin, sqrt
from statistics import NormalDist

import numpy as np

NORMAL = NormalDist()
MANY = 1000
"""Degrees of freedom from which the normal distribution stands in: the quantile at 0.975 differs by 0.003."""
HALVINGS = 80


@cache
def student(probability: float, freedom: int) -> float:
    """Return the quantile of Student's t with whole degrees of freedom."""
    if freedom >= MANY:
        return NORMAL.inv_cdf(probability)
    if probability < 0.5:
        return -student(1.0 - probability, freedom)
    low, high = 0.0, pi / 2.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if _below(middle, freedom) < probability else (low, middle)
    return sqrt(freedom) * sin(low) / cos(low)


def student_below(value: float, freedom: int) -> float:
    """Return the probability that Student's t lies below a value."""
    if freedom >= MANY:
        return NORMAL.cdf(value)
    return _below(atan2(value, sqrt(freedom)), freedom)


def _below(angle: float, freedom: int) -> float:
    """Return the probability below t = sqrt(freedom) tan(angle).

    Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4: finite sums over powers of the cosine.
    """
    square = cos(angle) ** 2
    if freedom % 2:
        steps = np.arange(1, (freedom - 1) // 2)
        terms = (
            np.cumprod(np.concatenate([[1.0], 2 * steps / (2 * steps + 1) * square])) if freedom > 1 else np.zeros(1)
        )
        inside = (angle + sin(angle) * cos(angle) * float(terms.sum())) * 2.0 / pi
    else:
        steps = np.arange(1, freedom // 2)
        terms = np.cumprod(np.concatenate([[1.0], (2 * steps - 1) / (2 * steps) * square]))
        inside = sin(angle) * float(terms.sum())
    return 0.5 + inside / 2.0
