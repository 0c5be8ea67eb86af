"""Twins: rows that play the same episode, in which the same comes from outside, and only what was done differs.

What all of them have earned from a step on came from outside; what one has earned beyond the others it owes to what it
did. The mean of the others is a baseline that knows the episode's future and still does not depend on the row's own
actions, so the gradient stays unbiased (Mao and others, "Variance reduction for reinforcement learning in input-driven
environments", 2019).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def beyond_twins(advantages: ArrayLike, twins: int) -> NDArray[np.float64]:
    """Return advantages less the mean of those of the row's twins at the same step.

    Args:
        advantages: Shape (steps, rows); so many rows that follow each other are twins.
        twins: How many; 1: nobody has any, and advantages stay as they are.

    Raises:
        ValueError: rows cannot be shared out among groups of so many.
    """
    found = np.asarray(advantages, np.float64)
    if found.ndim != 2 or twins < 1 or found.shape[1] % twins:
        raise ValueError(
            f"advantages of shape {found.shape} cannot be shared out among twins={twins!r}; give (steps, rows), "
            "and a number that rows can be divided by"
        )
    if twins == 1:
        return found
    groups = found.reshape(len(found), -1, twins)
    others = (groups.sum(axis=2, keepdims=True) - groups) / (twins - 1)
    apart: NDArray[np.float64] = (groups - others).reshape(found.shape)
    return apart
