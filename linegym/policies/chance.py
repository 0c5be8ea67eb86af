"""Acting at random, among what is possible."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linegym.plant import ACTIONS
from linegym.policies.policy import Infos, Lineup, Rows

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1, _MIX2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_PURPOSE = np.uint64(0x504F4C4943590001)
"""What keeps these numbers apart from those of the line."""


class Chance:
    """Chooses evenly among the actions that are possible; the same episode gets the same choices."""

    name = "random"
    truthful = False

    def __init__(self) -> None:
        self._keys = np.zeros(0, np.uint64)
        self._steps = np.zeros(0, np.uint64)

    def begin(self, lineup: Lineup, rows: Rows | None = None) -> None:
        """Start the numbers of these episodes."""
        keys = lineup.uids ^ _PURPOSE
        for part in (lineup.seeds, lineup.episodes):
            keys = _mix(keys + _GOLDEN) ^ part
        if rows is None:
            self._keys, self._steps = _mix(keys), np.zeros(lineup.n, np.uint64)
            return
        self._keys[rows], self._steps[rows] = _mix(keys)[rows], 0

    def act(self, _seen: NDArray[np.float32], masks: NDArray[np.bool_], _infos: Infos, /) -> NDArray[np.int64]:
        """Return a possible action for each row: (n,)."""
        self._steps += np.uint64(1)
        draws = _mix(self._keys ^ (self._steps * _GOLDEN)) >> np.uint64(32)
        possible = np.flatnonzero(np.ascontiguousarray(masks))
        counts = np.count_nonzero(masks, axis=1).astype(np.uint64)
        chosen = (draws * counts) >> np.uint64(32)  # below the count: an even choice up to 2**-32
        starts = np.cumsum(counts) - counts
        actions: NDArray[np.int64] = possible[(starts + chosen).astype(np.int64)] - np.arange(len(masks)) * ACTIONS
        return actions


def _mix(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return hashes: the finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014)."""
    z = (z ^ (z >> np.uint64(30))) * _MIX1
    z = (z ^ (z >> np.uint64(27))) * _MIX2
    return z ^ (z >> np.uint64(31))
