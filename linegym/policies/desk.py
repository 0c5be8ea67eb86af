"""From what is wrong to what is to be done: one action a row and step, the most urgent first.

A desk closes what is mended, sends somebody where an order waits, opens orders, has stations inspected, and keeps
spare parts in store. Desks differ in when they order parts and whom they send; what is wrong, they are told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from linegym import layout
from linegym.plant import (
    CHANNELS,
    CLAIMS,
    FIRST_CLOSE,
    FIRST_DIAGNOSE,
    FIRST_DISPATCH,
    FIRST_INSPECT,
    FIRST_ORDER,
    ORDER_SIZES,
    PARTS,
    SKILL_TICKS,
    STATIONS,
    TECHNICIANS,
    Order,
    Panel,
)
from linegym.policies.policy import Lineup, Rows
from linegym.policies.sight import Reals, Sight, Wholes

Stocking = Literal["claimed", "ahead", "known"]
"""When a spare part is ordered: once an order lacks it; as the last one is used; besides, once a fault needs it."""
_FAR = np.int16(10_000)


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a diagnosis wants."""

    claims: Wholes
    """(n, 24) claim to make now, -1 none"""
    channels: Wholes
    """(n, 24) channel to have inspected, -1 none"""
    urgency: Reals
    """(n, 24) what comes first among equals"""


class Desk:
    """Turns wishes into actions.

    Args:
        stocking: When spare parts are ordered.
        skilled: Whether a technician's skill counts beside his way.
        spare: Pieces of each part kept in store, and as many again of the dominant class's.
    """

    def __init__(self, stocking: Stocking, *, skilled: bool = False, spare: int = 1) -> None:
        self._spare = spare
        self.stocking = stocking
        self._skill = (np.arange(TECHNICIANS) % 3 * (SKILL_TICKS if skilled else 0)).astype(np.int16)
        self._travel = np.zeros((0, STATIONS, STATIONS), np.int16)
        self._kept = np.zeros((0, PARTS), np.int16)

    def begin(self, lineup: Lineup, rows: Rows | None = None) -> None:
        """Read the plants of these rows."""
        kept = lineup.whole[:, layout.T_ALLOWED][:, None] >> np.arange(1, PARTS + 1) & 1
        kept[np.arange(lineup.n), lineup.whole[:, layout.T_DOMINANT] - 1] += 1
        kept *= self._spare
        if rows is None:
            self._travel, self._kept = lineup.travel(), kept.astype(np.int16)
            return
        self._travel[rows], self._kept[rows] = lineup.travel()[rows], kept[rows]

    def act(self, sight: Sight, wishes: Wishes, faults: Wholes | None = None) -> NDArray[np.int64]:
        """Return a flat action for each row: (n,).

        Args:
            sight: What is seen.
            wishes: What a diagnosis wants.
            faults: (n, 24) true classes, for a desk that knows them.
        """
        actions = self._stocked(sight, faults)
        idle = sight.idle.any(axis=1, keepdims=True)
        _choose(actions, (wishes.channels >= 0) & sight.may_inspect, wishes.urgency, _inspection(wishes.channels))
        _choose(actions, (wishes.claims >= 0) & sight.may_diagnose, wishes.urgency, _diagnosis(wishes.claims))
        here = sight.order == Order.OPEN
        pieces = np.take_along_axis(sight.stock, np.maximum(sight.claim, 0).astype(np.int64), axis=1)
        # Nobody is sent with a part that the diagnosis no longer believes in.
        keeps = (wishes.claims < 0) | (wishes.claims == sight.claim)
        first = wishes.urgency + sight.order_age
        self._send(actions, sight, here & keeps & (pieces > 0) & idle, first)
        _choose(actions, sight.order == Order.DONE, sight.order_age, FIRST_CLOSE + np.arange(STATIONS)[None])
        return actions

    def _send(self, actions: NDArray[np.int64], sight: Sight, ready: NDArray[np.bool_], first: Reals) -> None:
        """Send the best technician to the most urgent station that is ready for one."""
        rows = np.flatnonzero(ready.any(axis=1))
        station = np.where(ready[rows], first[rows], -np.inf).argmax(axis=1)
        ways = self._travel[rows[:, None], sight.at[rows], station[:, None]] + self._skill
        who = np.where(sight.idle[rows], ways, _FAR).argmin(axis=1)
        actions[rows] = FIRST_DISPATCH + who * STATIONS + station

    def _stocked(self, sight: Sight, faults: Wholes | None) -> NDArray[np.int64]:
        """Return orders for the spare parts that are short, 0 where none are."""
        there = sight.stock + sight.coming
        needed = np.zeros_like(there)
        waiting = np.where(sight.order == Order.OPEN, sight.claim, -1)
        if self.stocking == "known" and faults is not None:
            waiting = np.where((sight.order <= Order.OPEN) & (faults > 0), faults - 1, waiting)
        for part in range(PARTS):
            needed[:, part] = np.count_nonzero(waiting == part, axis=1)
        short = needed - there
        if self.stocking != "claimed":
            short = np.maximum(short * 4, self._kept + needed - there)  # what somebody waits for comes first
        short = np.where(sight.may_order, short, 0)
        part = short.argmax(axis=1)
        return np.where(short.max(axis=1) > 0, FIRST_ORDER + part * len(ORDER_SIZES), 0)


def _choose(actions: NDArray[np.int64], possible: NDArray[np.bool_], first: Reals, coded: NDArray[np.int64]) -> None:
    """Put the action of the most urgent station that is possible into the rows that have one."""
    rows = np.flatnonzero(possible.any(axis=1))
    station = np.where(possible[rows], first[rows], -np.inf).argmax(axis=1)
    actions[rows] = np.broadcast_to(coded, possible.shape)[rows, station]


def _inspection(channels: Wholes) -> NDArray[np.int64]:
    return FIRST_INSPECT + np.arange(STATIONS) * CHANNELS + channels


def _diagnosis(claims: Wholes) -> NDArray[np.int64]:
    return FIRST_DIAGNOSE + np.arange(STATIONS) * CLAIMS + claims


def standing(sight: Sight) -> Reals:
    """Return 1 where a station stands still for itself, else 0: what comes first."""
    down: Reals = (sight.panel == Panel.DOWN).astype(np.float32)
    return down
