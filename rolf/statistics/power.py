"""Power: which differences a comparison can find, and how many variants it takes."""

from __future__ import annotations

from math import isfinite, sqrt

from rolf.statistics.quantiles import student
from rolf.statistics.scores import share

MOST = 10_000_000
"""Variants beyond which no plan is made."""


def minimum_detectable_difference(sd: float, n: int, *, power: float = 0.8, level: float = 0.95) -> float:
    """Return the smallest true difference that a comparison finds as often as its power says.

        >>> round(minimum_detectable_difference(0.4, 200), 3)
        0.08

    Args:
        sd: Standard deviation over variants of what is compared: of the paired differences of variant means. For
            unpaired means it is the root of the sum of both variances.
        n: Variants; clusters, where there are any, with the standard deviation over clusters.
        power: How often it shall be found.
        level: Of the interval that must leave out zero.

    Raises:
        ValueError: an argument cannot be.
    """
    _check(sd, power, level)
    if n < 2:
        raise ValueError(f"n = {n!r} variants; a comparison takes at least 2")
    return (student((1.0 + level) / 2.0, n - 1) + student(power, n - 1)) * sd / sqrt(n)


def variants_needed(sd: float, difference: float, *, power: float = 0.8, level: float = 0.95) -> int:
    """Return how many variants it takes to find a difference as often as the power says.

        >>> variants_needed(0.4, 0.08)
        199

    Args:
        sd: Standard deviation over variants of the paired differences of variant means.
        difference: True difference that shall be found.
        power: How often.
        level: Of the interval that must leave out zero.

    Raises:
        ValueError: an argument cannot be, or it takes more than 10 million.
    """
    _check(sd, power, level)
    if not difference > 0.0:
        raise ValueError(f"difference = {difference!r}; give the one to find, above 0")
    low, high = 1, 2
    while minimum_detectable_difference(sd, high, power=power, level=level) > difference:
        low, high = high, 2 * high
        if high > MOST:
            raise ValueError(f"to find {difference!r} takes more than {MOST} variants; look for a larger difference")
    while high - low > 1:
        middle = (low + high) // 2
        found = minimum_detectable_difference(sd, middle, power=power, level=level) <= difference
        low, high = (low, middle) if found else (middle, high)
    return high


def _check(sd: float, power: float, level: float) -> None:
    """Refuse what cannot be."""
    if not (isfinite(sd) and sd >= 0.0):
        raise ValueError(f"sd = {sd!r}; give a standard deviation, from 0")
    if share(power, "power") < 0.5:
        raise ValueError(f"power = {power!r}; give at least 0.5, such as 0.8")
    share(level, "level")
