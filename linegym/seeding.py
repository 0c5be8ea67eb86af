"""Seeds: what may be one, and which each row of a batch gets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linegym.settings import whole

LARGEST_SEED = 2**63 - 1


def checked_seed(seed: Any) -> int:
    """Return a seed.

    Raises:
        TypeError: it is no whole number; 0 is one, 1.0 is not.
        ValueError: it is negative, or above 2**63 - 1.
    """
    return whole("seed", seed, 0, LARGEST_SEED)


def drawn_seed(generator: np.random.Generator) -> int:
    """Return a seed drawn from a generator."""
    return int(generator.integers(LARGEST_SEED, endpoint=True))


def row_seeds(seed: Any, rows: int) -> list[int | None]:
    """Return the seed of each row.

    Args:
        seed: Of the first row, the next ones have the numbers after it; or one a row, where None lets the row go on to
            the next episode of the seed that it has; or None for all rows.
        rows: How many there are.

    Raises:
        TypeError: a seed is no whole number.
        ValueError: a seed is out of range, or there are not as many as rows.
    """
    if seed is None:
        return [None] * rows
    if isinstance(seed, (Sequence, np.ndarray)) and not isinstance(seed, str):
        if np.ndim(seed) != 1 or len(seed) != rows:
            got = f"seeds of shape {np.shape(seed)}" if np.ndim(seed) != 1 else f"{len(seed)} seeds"
            raise ValueError(f"got {got} for {rows} rows; give one a row, or one for the first")
        return [None if each is None else checked_seed(each) for each in seed]
    first = checked_seed(seed)
    if first + rows - 1 > LARGEST_SEED:
        raise ValueError(
            f"seed={seed!r} leaves no room for {rows} rows, whose seeds follow it up to {LARGEST_SEED}; "
            "give a smaller one, or a list with one a row"
        )
    return [first + row for row in range(rows)]
