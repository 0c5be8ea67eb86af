"""Sum tree: weights that change at the ends, from which one is drawn in proportion in a logarithm of steps.

The tree lies in one array, as a heap does: the root at 1, the children of ``i`` at ``2 i`` and ``2 i + 1``, the weights
in the second half. Every sum is that of its two children, whatever was added in which order; so a tree that is built
anew from the same weights draws the same.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_SMALLEST = 16


class SumTree:
    """Weights, none negative."""

    def __init__(self) -> None:
        self._tree = np.zeros(2 * _SMALLEST)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def total(self) -> float:
        """The sum of all weights."""
        return float(self._tree[1])

    @property
    def weights(self) -> NDArray[np.float64]:  # (n,)
        """The weights, as a view."""
        leaves = len(self._tree) // 2
        return self._tree[leaves : leaves + self._count]

    def extend(self, weights: NDArray[np.float64]) -> None:
        """Add weights at the end."""
        leaves = len(self._tree) // 2
        if self._count + len(weights) > leaves:
            self.rebuild(np.concatenate([self.weights, weights]))
            return
        low = leaves + self._count
        self._count += len(weights)
        high = leaves + self._count
        self._tree[low:high] = weights
        self._sum_up(low, high)

    def rebuild(self, weights: NDArray[np.float64]) -> None:
        """Take other weights."""
        leaves = _SMALLEST
        while leaves < len(weights):
            leaves *= 2
        self._tree = np.zeros(2 * leaves)
        self._count = len(weights)
        self._tree[leaves : leaves + self._count] = weights
        self._sum_up(leaves, leaves + self._count)

    def _sum_up(self, low: int, high: int) -> None:
        """Make the sums above the nodes from ``low`` to before ``high`` right."""
        tree = self._tree
        while low > 1 and high > low:
            low, high = low // 2, (high - 1) // 2 + 1
            tree[low:high] = tree[2 * low : 2 * high : 2] + tree[2 * low + 1 : 2 * high : 2]

    def draw(self, uniform: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return an index for each number from [0, 1), and what is left of its share of the sum within that weight.

        Never one whose weight is 0. There must be one that is not.
        """
        tree, leaves = self._tree, len(self._tree) // 2
        rest = uniform * self.total
        node = np.ones(len(uniform), np.int64)
        for _ in range(leaves.bit_length() - 1):
            left = tree[2 * node]
            right = (rest >= left) & (tree[2 * node + 1] > 0)  # a sum that was rounded up leads nowhere
            rest = np.where(right, rest - left, rest)
            node = 2 * node + right
        return node - leaves, rest
