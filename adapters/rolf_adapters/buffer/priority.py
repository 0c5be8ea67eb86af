"""Causal priority: how much of an episode hangs on a step.

A step's priority is the number of later steps that depend on it, directly or through others, times the variance of the
rewards that come after it. A step on which nothing depends has none, nor has one after which all rewards are equal.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rolf_adapters.buffer.graph import Graph


def dependants(graph: Graph, steps: int) -> list[int]:
    """Return how many steps depend on each step of an episode, directly or through others."""
    reached: dict[int, int] = {}  # sets of steps, as bits
    # Edges are sorted by their causes and lead to later steps: from behind, all that an effect reaches is known.
    for cause, effect, _ in reversed(graph.edges.tolist()):
        reached[cause] = reached.get(cause, 0) | reached.get(effect, 0) | 1 << effect
    counts = [0] * steps
    for step, known in reached.items():
        counts[step] = known.bit_count()
    return counts


def later_variance(rewards: NDArray[np.float64]) -> list[float]:
    """Return for each step the variance of the rewards after it; 0.0 where there are fewer than two.

    By Welford's update ("Note on a method for calculating corrected sums of squares and products", 1962), from the end:
    equal rewards give exactly 0.0, whatever came before them.
    """
    found: list[float] = []
    mean, squares = 0.0, 0.0
    for count, reward in enumerate(reversed(rewards.tolist())):
        found.append(squares / count if count else 0.0)
        away = reward - mean
        mean += away / (count + 1)
        squares += away * (reward - mean)
    found.reverse()
    return found


def priorities(graph: Graph, rewards: NDArray[np.float64]) -> NDArray[np.float32]:  # (T,)
    """Return the causal priority of each step of an episode.

    Raises:
        ValueError: a reward is not finite, so that there is no variance.
    """
    if not np.isfinite(rewards).all():
        raise ValueError("a reward is not finite, so no step after it has a priority; leave the episode out")
    if not len(graph):
        return np.zeros(len(rewards), np.float32)
    product = np.array(dependants(graph, len(rewards)), np.float64) * later_variance(rewards)
    return product.astype(np.float32)
