"""Causal priority: how much of an episode hangs on a step.

A step's priority is the number of later steps that depend on it, directly or through others, times the variance of the
rewards that come after it. A step on which nothing depends has none, nor has one after which all rewards are equal.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rolf_adapters.buffer.graph import Graph

_NUMBERS = 1 << 20
"""Most that are worked on together."""


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


def later_variances(rewards: Sequence[NDArray[np.float64]]) -> list[NDArray[np.float64]]:
    """Return for each step of each episode the variance of the rewards after it; 0.0 where there are fewer than two.

    By Welford's update ("Note on a method for calculating corrected sums of squares and products", 1962), from the end:
    equal rewards give exactly 0.0, whatever came before them. Episodes are worked on together, each in its own column.
    """
    found: list[NDArray[np.float64]] = []
    together = max(1, _NUMBERS // max(map(len, rewards), default=1))
    for start in range(0, len(rewards), together):
        part = rewards[start : start + together]
        columns = np.zeros((max(map(len, part)), len(part)))
        for column, each in enumerate(part):
            columns[: len(each), column] = each[::-1]
        variances = _from_the_first(columns)
        found += [variances[: len(each), column][::-1] for column, each in enumerate(part)]
    return found


def _from_the_first(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each row the variance of those before it, column by column."""
    variances = np.zeros_like(columns)
    mean, squares = np.zeros(columns.shape[1]), np.zeros(columns.shape[1])
    for count, row in enumerate(columns):
        if count:
            variances[count] = squares / count
        away = row - mean
        mean += away / (count + 1)
        squares += away * (row - mean)
    return variances


def priorities(graphs: Sequence[Graph], rewards: Sequence[NDArray[np.float64]]) -> list[NDArray[np.float32]]:
    """Return the causal priorities of the steps of each episode.

    Args:
        graphs: What came of what, of each episode.
        rewards: (T,) of each episode, all finite.
    """
    found = [np.zeros(len(each), np.float32) for each in rewards]
    known = [at for at, graph in enumerate(graphs) if len(graph)]
    for at, variances in zip(known, later_variances([rewards[at] for at in known]), strict=True):
        found[at][:] = dependants(graphs[at], len(variances)) * variances
    return found
