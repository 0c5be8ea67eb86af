"""A policy as a diagnosis and a desk: one says what is wrong, the other sees to it."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from linegym.policies.desk import Desk, Wishes
from linegym.policies.policy import Infos, Lineup, Rows
from linegym.policies.sight import Sight


class Diagnosis(Protocol):
    """Says what is wrong."""

    truthful: bool
    """Whether it needs ``infos["true_faults"]``."""

    def begin(self, lineup: Lineup, rows: Rows | None = None) -> None:
        """Get ready for an episode in each row, or in those named."""

    def look(self, sight: Sight, infos: Infos, /) -> Wishes:
        """Return what it wants claimed and inspected now."""


class Composed:
    """Looks with a diagnosis, acts with a desk."""

    def __init__(self, name: str, diagnosis: Diagnosis, desk: Desk) -> None:
        self.name = name
        self.diagnosis = diagnosis
        self.desk = desk
        self.truthful = diagnosis.truthful or desk.stocking == "known"
        self.privileged = self.truthful

    def begin(self, lineup: Lineup, rows: Rows | None = None) -> None:
        """Get ready for an episode in each row, or in those named."""
        self.diagnosis.begin(lineup, rows)
        self.desk.begin(lineup, rows)

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.bool_], infos: Infos, /) -> NDArray[np.int64]:
        """Return a flat action for each row: (n,)."""
        sight = Sight.of(observations, masks)
        wishes = self.diagnosis.look(sight, infos)
        return self.desk.act(sight, wishes, infos["true_faults"] if self.truthful else None)
