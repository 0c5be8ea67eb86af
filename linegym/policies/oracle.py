"""Knowing every fault: what a perfect diagnosis is worth. A reference, not an optimum: it looks one order ahead."""

from __future__ import annotations

import numpy as np

from linegym.plant import CLAIM_DISTURBANCE, Order
from linegym.policies.desk import Wishes, standing
from linegym.policies.policy import Infos, Lineup, Rows
from linegym.policies.sight import Sight

_INSPECTABLE = 55
"""An inspection older than this is not relied on to allow a work order [ticks]."""


class Oracle:
    """Claims every fault as it appears; where no alarm allows that, it sends somebody to look."""

    truthful = True

    def begin(self, lineup: Lineup, rows: Rows | None = None) -> None:
        """Get ready."""

    def look(self, sight: Sight, infos: Infos, /) -> Wishes:
        """Say what is wrong."""
        faults = infos["true_faults"]
        n, stations = faults.shape
        claimable = (faults > 0) & (sight.order <= Order.OPEN)
        claims = np.where(claimable & (faults - 1 != sight.claim), faults - 1, -1)
        false = sight.alarm & (faults == 0) & (sight.order == Order.NONE)
        claims = np.where(false, CLAIM_DISTURBANCE, claims).astype(np.int16)
        watched = np.zeros((n, stations + 1), np.bool_)
        rows, who = np.nonzero(sight.inspecting)
        watched[rows, sight.to[rows, who]] = True
        blind = (faults > 0) & (sight.order == Order.NONE) & ~sight.may_diagnose & ~watched[:, :stations]
        return Wishes(claims, np.where(blind, 0, -1).astype(np.int16), standing(sight))
