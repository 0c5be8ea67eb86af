"""What a policy is, and what it may know before it begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from linegym import layout
from linegym.plant import HORIZON, STATIONS
from linegym.variants import Variant

Infos = Mapping[str, NDArray[np.int16]]
"""What ``info`` tells of all rows; of it, policies that know the truth read ``true_faults``: (n, 24)."""
Rows = NDArray[np.bool_]


@dataclass(frozen=True)
class Lineup:
    """The episodes that a policy is about to play, one a row, and what anybody can know of their plants."""

    whole: NDArray[np.int32]
    """(n, T_ROW) the plants, as ``linegym.layout`` lays them out"""
    real: NDArray[np.float64]
    """(n, G_ROW)"""
    uids: NDArray[np.uint64]
    """(n,) of the variants: a part in the key of a policy's own random numbers"""
    seeds: NDArray[np.uint64]
    """(n,)"""
    episodes: NDArray[np.uint64]
    """(n,) each one's number under its seed"""
    horizon: int = HORIZON

    @classmethod
    def of(
        cls,
        variants: Sequence[Variant],
        seeds: Sequence[int] | NDArray[np.uint64],
        episodes: Sequence[int] | NDArray[np.uint64] | None = None,
        horizon: int = HORIZON,
    ) -> Lineup:
        """Return the lineup of these variants, a row each.

        Args:
            variants: Of each row.
            seeds: Of each row.
            episodes: Number of each row's episode; None: 0.
            horizon: Ticks of an episode.
        """
        n = len(variants)
        plants = [variant.template.plant().rows() for variant in variants]
        return cls(
            whole=np.array([plant[0] for plant in plants], np.int32).reshape(n, layout.T_ROW),
            real=np.array([plant[1] for plant in plants], np.float64).reshape(n, layout.G_ROW),
            uids=np.array([variant.uid for variant in variants], np.uint64),
            seeds=np.asarray(seeds, np.uint64),
            episodes=np.zeros(n, np.uint64) if episodes is None else np.asarray(episodes, np.uint64),
            horizon=horizon,
        )

    @property
    def n(self) -> int:
        """How many rows there are."""
        return len(self.uids)

    def travel(self) -> NDArray[np.int16]:  # (n, 24, 24)
        """Return the time from each station to each [ticks]."""
        times = self.whole[:, layout.T_TRAVEL : layout.T_LEAD]
        return times.reshape(self.n, STATIONS, STATIONS).astype(np.int16)


class Policy(Protocol):
    """Decides for many lines at once.

    What it does in a row is a pure function of that row's variant, seed, episode and observations: never of its
    neighbours, of the order of rows, or of a generator that something else draws from.
    """

    name: str
    """What tables call it."""
    truthful: bool
    """Whether it needs ``infos["true_faults"]``; such policies are references and no contestants. Where they
    are judged (``rolf eval``) they must say ``privileged = True`` as well."""

    def begin(self, lineup: Lineup, rows: Rows | None = None) -> None:
        """Get ready for an episode in each row.

        Args:
            lineup: Of all rows.
            rows: (n,) Which rows begin one now, the others go on; None: all.
        """

    def act(
        self, observations: NDArray[np.float32], masks: NDArray[np.bool_], infos: Infos, /
    ) -> NDArray[np.int64]:  # (n,)
        """Return a flat action for each row.

        Args:
            observations: (n, 632)
            masks: (n, 545) which flat actions are possible.
            infos: See ``truthful``.
        """
