"""Scores: what statistics are made of, looked at before anything is computed.

A table of floats, one row a variant, one column an attempt at it. NaN is an attempt that says nothing of the policy,
for the machine failed: it is left out, and counted. Scores as rliable lays them out, runs by tasks, are the transposed
table: a task is a variant, a run an attempt.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
SHOWN = 5
"""How many rows an error names."""


def checked(scores: ArrayLike, name: str = "scores") -> Floats:
    """Return scores as an array (variants, attempts) of which every variant has an attempt that counts.

    Raises:
        ValueError: they are not that; says what to do.
    """
    table = shaped(scores, name)
    at_least(table, 1, name)
    return table


def shaped(scores: ArrayLike, name: str = "scores") -> Floats:
    """Return scores as an array (variants, attempts) of numbers and NaN."""
    try:
        table = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} are no table of numbers ({error}); give floats, NaN where the machine failed"
        ) from None
    if table.ndim != 2 or not table.size:
        hint = "; of one attempt each: scores[:, None]" if table.ndim == 1 else ""
        raise ValueError(f"{name} have the shape {table.shape}; give (variants, attempts), at least (1, 1){hint}")
    infinite = np.isinf(table)
    if infinite.any():
        found = rows(np.flatnonzero(infinite.any(1)))
        raise ValueError(f"{name} of variants {found} are infinite; give numbers, or NaN for faults")
    return table


def at_least(table: Floats, attempts: int, name: str = "scores") -> None:
    """Refuse scores of which a variant has fewer attempts that count."""
    counted = np.isfinite(table).sum(1)
    few = np.flatnonzero(counted < attempts)
    if few.size:
        found = "none that counts" if attempts == 1 else f"fewer than {attempts} that count"
        raise ValueError(
            f"{name}: of the attempts at variants {rows(few)} there are {found}; leave such variants "
            f"out, and say so: kept = observed(scores, {attempts}), then scores[kept] and clusters[kept]"
        )


def observed(scores: ArrayLike, at_least: int = 1) -> NDArray[np.bool_]:
    """Return which variants have so many attempts that count: what ``scores[kept]`` takes.

    Leaving variants out changes what is measured, so no statistic does it by itself.

    Raises:
        ValueError: no variant would be left.
    """
    kept: NDArray[np.bool_] = np.isfinite(shaped(scores)).sum(1) >= at_least
    if not kept.any():
        raise ValueError(f"no variant has {at_least} attempts that count; nothing can be said of such scores")
    return kept


def successes(table: ArrayLike, k: int) -> Floats:
    """Return successes as an array (variants, attempts) of 0, 1 and NaN, with at least k that count in each row.

    Raises:
        ValueError: they are not that, or k is no whole number from 1 to the number of attempts.
    """
    checked_table = checked(table, "successes")
    wrong = ~(np.isnan(checked_table) | (checked_table == 0) | (checked_table == 1))
    if wrong.any():
        raise ValueError(f"successes hold {checked_table[wrong][0]!r}; give 0 or 1, NaN where the machine failed")
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 1 <= k <= checked_table.shape[1]:
        raise ValueError(f"k = {k!r}, of {checked_table.shape[1]} attempts; give a whole number from 1 to that")
    at_least(checked_table, int(k), "successes")
    return checked_table


def paired(a: ArrayLike, b: ArrayLike) -> tuple[Floats, Floats]:
    """Return the scores of two policies on the same variants.

    Raises:
        ValueError: they are not that.
    """
    first, second = checked(a, "a"), checked(b, "b")
    if len(first) != len(second):
        raise ValueError(f"a has {len(first)} variants and b {len(second)}; compare policies on the same, row by row")
    return first, second


def grouped(clusters: Sequence[Any] | NDArray[Any] | None, variants: int) -> Counts:
    """Return which cluster each variant belongs to, as numbers from 0; without labels each is its own.

    Raises:
        ValueError: there is not one label a variant.
    """
    if clusters is None:
        return np.arange(variants)
    labels = np.asarray(clusters)
    if labels.shape != (variants,):
        raise ValueError(f"clusters have the shape {labels.shape}; give one label a variant, ({variants},), or None")
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise ValueError("clusters hold NaN, which is no label; give every variant one, names or whole numbers")
    return np.unique(labels, return_inverse=True)[1].astype(np.int64).reshape(variants)


def share(value: float, name: str) -> float:
    """Return a number that must lie between 0 and 1, both excluded."""
    if not 0.0 < value < 1.0:
        raise ValueError(f"{name} = {value!r}; give a number between 0 and 1, such as 0.95")
    return value


def rows(found: NDArray[np.intp]) -> str:
    """Return which rows were found, for an error."""
    return ", ".join(map(str, found[:SHOWN])) + (f" and {len(found) - SHOWN} more" if len(found) > SHOWN else "")
