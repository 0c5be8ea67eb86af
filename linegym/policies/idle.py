"""Doing nothing: what a line is worth when nobody cares for it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linegym.policies.policy import Infos, Lineup, Rows


class Idle:
    """Does nothing, ever."""

    name = "no-op"
    truthful = False

    def begin(self, lineup: Lineup, rows: Rows | None = None) -> None:
        """Get ready."""

    def act(self, _seen: NDArray[np.float32], masks: NDArray[np.bool_], _infos: Infos, /) -> NDArray[np.int64]:
        """Return no-ops: (n,)."""
        return np.zeros(len(masks), np.int64)
