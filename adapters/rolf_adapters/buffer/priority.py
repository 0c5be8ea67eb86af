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
_NOTHING = np.zeros(0, np.float32)
_PAIRS, _FOURS, _EIGHTS, _BYTES = (np.uint64(each * 0x0101010101010101) for each in (0x55, 0x33, 0x0F, 1))


def priorities(graphs: Sequence[Graph], rewards: Sequence[NDArray[np.float64]]) -> list[NDArray[np.float32]]:
    """Return the causal priorities of the steps of each episode.

    Args:
        graphs: What came of what, of each episode.
        rewards: (T,) of each episode, all finite.
    """
    known = [at for at, graph in enumerate(graphs) if len(graph)]
    both = zip(graphs, rewards, strict=True)
    found = [_NOTHING if len(graph) else np.zeros(len(own), np.float32) for graph, own in both]
    longest = max((len(rewards[at]) for at in known), default=1)
    linked = min(longest, 2 * max((len(graphs[at]) for at in known), default=1))
    together = max(1, _NUMBERS // (longest * _words(linked)))
    for start in range(0, len(known), together):
        part = known[start : start + together]
        later = [rewards[at] for at in part]
        lengths = np.array([len(each) for each in later])
        worth = dependants([graphs[at] for at in part], lengths) * later_variances(later)
        behind = np.ascontiguousarray(worth, np.float32)
        for at, row, length in zip(part, behind, lengths.tolist(), strict=True):
            found[at] = row[-length:]
    return found


def dependants(graphs: Sequence[Graph], lengths: NDArray[np.int64]) -> NDArray[np.int64]:  # (n, longest)
    """Return how many steps depend on each step of each episode, directly or through others.

    Edges are sorted by their causes and lead to later steps: from behind, all that an effect reaches is known. What a
    step reaches is a set of bits, itself included. The last edges of all episodes are followed together, then those
    before them.

    Args:
        graphs: What came of what, an edge at least in each.
        lengths: (n,) how many steps each episode has. The last of each is in the last column.
    """
    shape = len(lengths), int(lengths.max())
    sizes = np.array([len(graph) for graph in graphs])
    first = np.arange(1, len(lengths) + 1) * shape[1] - lengths
    ends = np.concatenate([graph.edges for graph in graphs])[:, :2] + first.repeat(sizes)[:, None]
    behind = sizes.cumsum().repeat(sizes) - np.arange(len(ends))
    linked = np.zeros(shape, np.bool_)
    linked.reshape(-1)[ends] = True
    nodes = np.flatnonzero(linked)  # steps that have edges: the others need no bits
    each = np.count_nonzero(linked, axis=1)
    every = np.arange(len(nodes))
    place = every - (each.cumsum() - each).repeat(each)
    reached = np.zeros((len(nodes), _words(int(each.max()))), np.uint64)
    reached[every, place >> 6] = np.left_shift(np.uint64(1), (place & 63).astype(np.uint64))
    number = np.zeros(linked.size, np.int64)
    number[nodes] = every
    cause, effect = number[ends[behind.argsort(kind="stable")].T]
    start = 0
    for stop in np.bincount(behind)[1:].cumsum().tolist():
        reached[cause[start:stop]] |= reached[effect[start:stop]]
        start = stop
    counts = np.zeros(shape, np.int64)
    counts.reshape(-1)[nodes] = _set_bits(reached) - 1
    return counts


def _words(bits: int) -> int:
    return -(-bits // 64)


def _set_bits(words: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return how many bits are set in each row, by adding neighbours (Warren, "Hacker's delight", 2002, 5-1)."""
    words = words - (words >> np.uint64(1) & _PAIRS)
    words = (words & _FOURS) + (words >> np.uint64(2) & _FOURS)
    words = words + (words >> np.uint64(4)) & _EIGHTS
    counts: NDArray[np.int64] = (words * _BYTES >> np.uint64(56)).sum(axis=1, dtype=np.int64)
    return counts


def later_variances(rewards: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:  # (n, longest)
    """Return for each step of each episode the variance of the rewards after it; 0.0 where there are fewer than two.

    By Welford's update ("Note on a method for calculating corrected sums of squares and products", 1962), from the end:
    equal rewards give exactly 0.0, whatever came before them. The last step of each is in the last column.
    """
    lengths = np.array([len(each) for each in rewards])
    padded = np.zeros((len(rewards), lengths.max()))
    padded[np.arange(padded.shape[1]) >= padded.shape[1] - lengths[:, None]] = np.concatenate(rewards)
    variances = np.zeros(padded.shape[::-1])
    mean, squares = np.zeros(len(rewards)), np.zeros(len(rewards))
    for count, row in enumerate(padded.T[::-1].copy()):
        if count:
            variances[-1 - count] = squares / count
        away = row - mean
        mean += away / (count + 1)
        squares += away * (row - mean)
    return variances.T
