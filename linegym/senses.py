"""Senses: what the plant's published physics say of each station, as numbers for a network.

What an expert works out before it decides, and anybody can who sees the plant: how far readings are from what a sound
station would read, how much better each fault class explains it, what has been summed up for each, and how near the
technicians are. They are to look at every tick, so that nothing that came between two decisions is lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linegym import layout
from linegym.plant import ACTIONS, CHANNELS, FAULTS, STATIONS, STATIONS_A_SWITCH, TECHNICIANS, Fault, Order, Panel
from linegym.policies.evidence import FITTED, Evidence
from linegym.policies.policy import Lineup, Rows
from linegym.policies.sight import Reals, Sight
from linegym.policies.signatures import FEATURES
from linegym.templates import template
from linegym.variants import Variant

CLASSES = (*FITTED, Fault.SENSOR_DRIFT)
"""Fault classes that have a signature."""
DRIFT, MOST = np.float32(7.0), np.float32(120.0)
"""What the sum for a class loses a tick, and where it stops [log-likelihood]."""
GAIN, SUM, COUNT, WAY = np.float32(20.0), np.float32(30.0), np.float32(20.0), np.float32(20.0)
"""What gains, sums, counts and ways are divided by [log-likelihood, log-likelihood, ticks, ticks]."""
LEAST, LARGEST = -1.0, 5.0
"""Where gains that were divided are cut."""
NEAREST = np.float32(0.02)
"""What is told at least of a technician who is free: that he is."""
NEVER = 60
"""Age from which on a switch is taken to be silent as a whole [ticks]."""
SIZE = FEATURES + 2 * len(CLASSES) + FAULTS + CHANNELS + 4 + TECHNICIANS


class Senses:
    """Follows production lines, one a row.

    Of each station it tells, in this order: 4 deviations of the three channels and the time of a part, in what is usual
    for the line as a whole; 6 gains of `CLASSES` over no fault; 6 sums of them, as a CUSUM has it, of each class by
    itself; 8 flags, which classes its template can have; 3 measurements of the last inspection, less what was expected;
    how long its sensor has been flat, it has stood still and its controller been silent, and its share of time at work;
    and how near each of 6 technicians is, 0 if he is busy. All 0 before the first tick, and where there is no station.

    >>> lines = senses()
    >>> lines.begin({"template_id": "serial/rtd/profinet/bearing"}, np.ones(1, np.bool_))
    >>> lines.look(np.zeros((1, 632), np.float32)).shape
    (1, 24, 37)
    """

    size = SIZE
    """Numbers of each station."""

    def __init__(self) -> None:
        self._evidence = Evidence()
        self._allocate(0)

    def _allocate(self, n: int) -> None:
        shape = (n, STATIONS)
        self._sums = np.zeros((len(CLASSES), *shape), np.float32)
        self._still, self._order = np.zeros(shape, np.int16), np.zeros(shape, np.int16)
        self._allowed = np.zeros((FAULTS, n, 1), np.float32)
        self._ways = np.zeros((n, STATIONS, STATIONS), np.int16)
        self._masks = np.zeros((n, ACTIONS), np.bool_)  # no sense reads them

    def begin(self, infos: Mapping[str, Any], rows: Rows) -> None:
        """Read the plants of the episodes that have just begun in these rows, at first in all; forget what was there.

        Args:
            infos: What ``reset`` told, of one line or of many.
            rows: (n,) which.
        """
        if len(rows) != len(self._masks):
            self._allocate(len(rows))
        names = np.asarray(infos["template_id"], dtype=object).reshape(-1)
        lineup = Lineup.of([Variant(template(str(name))) for name in names], np.zeros(len(rows), np.uint64))
        self._evidence.begin(lineup, None if rows.all() else rows)
        allowed = lineup.whole[:, layout.T_ALLOWED] >> np.arange(1, FAULTS + 1)[:, None] & 1
        self._allowed[:, rows, 0], self._ways[rows] = allowed[:, rows], lineup.travel()[rows]
        self._sums[:, rows], self._still[rows], self._order[rows] = 0, 0, 0

    def look(self, observations: NDArray[np.float32]) -> Reals:  # (n, 24, size)
        """Return what is to be told of each station after a tick; called once a tick, with (n, 632) observations."""
        sight, evidence = Sight.of(observations, self._masks), self._evidence
        evidence.take(sight)
        self._follow(sight)
        told = evidence.gains()
        gains = np.stack([told[fault] for fault in CLASSES])
        self._sums = np.clip(self._sums + (gains - DRIFT), 0, MOST)
        pieces = [
            evidence.deviation * np.sqrt(evidence.weights()),
            np.clip(gains / GAIN, LEAST, LARGEST),
            self._sums / SUM,
            np.broadcast_to(self._allowed, (FAULTS, *sight.age.shape)),
            np.nan_to_num(evidence.measured),
            self._signs(sight),
            self._nearness(sight),
        ]
        found = np.concatenate(pieces, dtype=np.float32) * evidence.present
        return np.ascontiguousarray(found.transpose(1, 2, 0))

    def _follow(self, sight: Sight) -> None:
        """Follow standstill and repairs."""
        down = (sight.panel == Panel.DOWN) & (sight.order < Order.REPAIR)
        self._still = np.where(down, self._still + np.int16(1), np.int16(0))
        mended = (sight.order == Order.DONE) & (self._order != Order.DONE)
        self._order = sight.order
        if mended.any():
            self._evidence.forget(mended, sight.claim + 1 <= Fault.LEAK)
            self._sums[:, mended] = 0

    def _signs(self, sight: Sight) -> Reals:  # (4, n, 24)
        """Return how long a sensor is flat, a station stands still and its controller is silent; and its work."""
        evidence, n = self._evidence, len(sight.age)
        ages = sight.age.reshape(n, -1, STATIONS_A_SWITCH)
        others = np.where(evidence.present.reshape(ages.shape) > 0, ages, NEVER)
        # The second youngest: a station is not held against itself.
        youngest = np.repeat(np.sort(others, axis=2)[:, :, 1], STATIONS_A_SWITCH, axis=1)
        counts = np.stack([evidence.flat, self._still, sight.age - np.minimum(youngest, NEVER)])
        return np.concatenate([np.clip(counts.astype(np.float32) / COUNT, -1, 2), evidence.duty[None]])

    def _nearness(self, sight: Sight) -> Reals:  # (6, n, 24)
        """Return how near each technician is to each station: 1 there, less the further, 0 while he is busy."""
        rows = np.arange(len(sight.at))[:, None]
        ways = self._ways[rows, np.minimum(sight.at, STATIONS - 1)]
        near = np.maximum(1 - ways / WAY, NEAREST) * sight.idle[:, :, None]
        return near.transpose(1, 0, 2).astype(np.float32)


def senses() -> Senses:
    """Return senses that have seen nothing yet."""
    return Senses()
