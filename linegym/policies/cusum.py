"""The expert's diagnosis: cumulated evidence for each fault class, and somebody sent to look where it is not enough.

Page, "Continuous inspection schemes", Biometrika 41 (1954): what speaks for a fault is summed up, less a drift, never
below zero; beyond a bound it is one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linegym import layout
from linegym.plant import (
    CHANNELS,
    CLAIM_DISTURBANCE,
    CLAIM_NETWORK,
    FAULTS,
    STATIONS,
    STATIONS_A_SWITCH,
    Fault,
    Order,
    Panel,
)
from linegym.policies.desk import Wishes, standing
from linegym.policies.evidence import Evidence
from linegym.policies.policy import Infos, Lineup, Rows
from linegym.policies.sight import Flags, Reals, Sight, Wholes

DRIFT, BOUND, MOST = np.float32(7.0), np.float32(40.0), np.float32(120.0)
"""What the sum loses a tick, where it means a fault, where it stops [log-likelihood]."""
MARGIN = np.float32(6.0)
"""How much better the best class must be than the next, or somebody is sent to look."""
FLAT = 12
"""Equal samples in a row that tell a stuck sensor from one that is held for a moment."""
STANDS = 9
"""Ticks of standstill that no watchdog causes."""
SILENT = 8
"""Age of a sample beyond that of the switch's other stations that is the controller's own doing [ticks]."""
CALM, LONGEST = 10, 20
"""How long an alarm is watched before it is dismissed: when nothing speaks for a fault, when little does [ticks]."""
RESTS = 12
"""How long a repaired station is left alone [ticks]."""
TRIED = 90
"""How long a class is left out after its repair [ticks]."""
LOOKED = 30
"""How long after an inspection there is nothing more to learn from another [ticks]."""
RULED_OUT = np.float32(-1e6)
HALTING = (Fault.OVERHEAT, Fault.JAM)
"""Classes with a signature that can stop a station."""


class Ranked(NamedTuple):
    """The classes that explain best what came; (n, 24) each."""

    best: Wholes
    second: Wholes
    gain: Reals
    """of the best over no fault"""
    margin: Reals
    """of the best over the second, or over no fault"""


class Cusum:
    """Tells fault classes apart by their signatures."""

    truthful = False

    def __init__(self) -> None:
        self.evidence = Evidence()
        self._allocate(0)

    def _allocate(self, n: int) -> None:
        shape = (n, STATIONS)
        self._sum = np.zeros(shape, np.float32)
        self._still = np.zeros(shape, np.int16)
        self._order = np.zeros(shape, np.int16)
        self._rest = np.zeros(shape, np.int16)
        self._tried = np.zeros(shape, np.int16)
        self._tried_for = np.zeros(shape, np.int16)
        self._calm = np.zeros(shape, np.int16)
        self._forbidden = np.zeros((FAULTS + 1, n, 1), np.bool_)
        self._looks = np.zeros((FAULTS + 1, FAULTS + 1, n), np.int16)

    def begin(self, lineup: Lineup, rows: Rows | None = None) -> None:
        """Forget these rows, read their plants."""
        if rows is None:
            self._allocate(lineup.n)
            rows = np.ones(lineup.n, np.bool_)
        self.evidence.begin(lineup, None if rows.all() else rows)
        for memory in (self._sum, self._still, self._order, self._rest, self._tried, self._tried_for, self._calm):
            memory[rows] = 0
        allowed = lineup.whole[rows, layout.T_ALLOWED]
        self._forbidden[:, rows, 0] = (allowed >> np.arange(FAULTS + 1)[:, None] & 1) == 0
        shown = self.evidence.shown[:CHANNELS]
        apart = np.abs(shown[:, :, None] - shown[:, None, :])
        looks = apart.argmax(axis=0).astype(np.int16)
        looks[Fault.SENSOR_DRIFT] = looks[:, Fault.SENSOR_DRIFT] = 0
        self._looks[:, :, rows] = looks[:, :, rows]

    def look(self, sight: Sight, _infos: Infos, /) -> Wishes:
        """Say what is wrong."""
        evidence = self.evidence
        evidence.take(sight)
        self._follow(sight)
        best, second, gain, margin = self._ranked()
        self._sum = np.clip(self._sum + (gain - DRIFT), 0, MOST) * evidence.present
        self._sum[self._rest > 0] = 0
        certain = self._certain(sight, best)
        found = np.where(certain > 0, certain, best)
        suspect = ((self._sum > BOUND) | (certain > 0)) & (sight.order == Order.NONE) & (self._rest == 0)
        looked = evidence.since <= LOOKED
        clear = (margin > MARGIN) | (certain > 0) | looked
        claims = np.where(suspect & clear & sight.may_diagnose, found - 1, -1).astype(np.int16)
        claims = self._dismissals(sight, suspect, claims)
        watched = self._watched(sight)
        blind = suspect & (claims < 0) & ~watched & ~(looked & sight.may_diagnose)
        rows = np.arange(len(best))[:, None]
        channels = np.where(blind, self._looks[found, second, rows], np.int16(-1))
        return Wishes(claims, channels, standing(sight) + self._sum / MOST)

    def _follow(self, sight: Sight) -> None:
        """Follow standstill and repairs."""
        down = sight.panel == Panel.DOWN
        self._still = np.where(down & (sight.order < Order.REPAIR), self._still + np.int16(1), np.int16(0))
        mended = (sight.order == Order.DONE) & (self._order != Order.DONE)
        self._order = sight.order
        self._rest = np.maximum(self._rest - np.int16(1), np.int16(0))
        self._tried_for = np.maximum(self._tried_for - np.int16(1), np.int16(0))
        if mended.any():
            self._rest[mended] = RESTS
            self._tried[mended] = sight.claim[mended] + 1
            self._tried_for[mended] = TRIED
            self.evidence.forget(mended, sight.claim + 1 <= Fault.LEAK)

    def _ranked(self) -> Ranked:
        """Rank the classes that are not ruled out at a station."""
        down = self._still > 0
        shape = down.shape
        best, second = np.zeros(shape, np.int16), np.zeros(shape, np.int16)
        gain, following = np.full(shape, RULED_OUT), np.full(shape, RULED_OUT)
        tried = np.where(self._tried_for > 0, self._tried, np.int16(0))
        for fault, one in self.evidence.gains().items():
            ruled_out = (
                self._forbidden[fault]
                | (tried == fault)
                | (~down if fault == Fault.JAM else down & (fault not in HALTING))
            )
            np.copyto(one, RULED_OUT, where=ruled_out)
            ahead = one > gain
            second = np.where(ahead, best, np.where(one > following, np.int16(fault), second))
            following = np.where(ahead, gain, np.maximum(one, following))
            best = np.where(ahead, np.int16(fault), best)
            gain = np.maximum(one, gain)
        return Ranked(best, second, gain, gain - np.maximum(following, 0))

    def _certain(self, sight: Sight, best: Wholes) -> Wholes:
        """Return the class where one sign decides, 0 elsewhere: a flat line, a standstill, a silent controller."""
        n = len(best)
        ages = sight.age.reshape(n, -1, STATIONS_A_SWITCH)
        others = np.where(self.evidence.present.reshape(ages.shape) > 0, ages, 99)
        youngest = np.repeat(np.sort(others, axis=2)[:, :, 1], STATIONS_A_SWITCH, axis=1)
        stands = self._still >= STANDS
        silent = stands & ((sight.age - np.minimum(youngest, 60) >= SILENT) | (sight.age > 30))
        heard = stands & (sight.age < 4)
        found = np.where(self.evidence.flat >= FLAT, np.int16(Fault.SENSOR_STUCK), np.int16(0))
        found = np.where(heard, np.where(best == Fault.OVERHEAT, Fault.OVERHEAT, Fault.JAM), found)
        found = np.where(silent, np.int16(Fault.PLC_COMM), found)
        found[(self._tried == found) & (self._tried_for > 0)] = 0
        return found.astype(np.int16)

    def _dismissals(self, sight: Sight, suspect: Flags, claims: Wholes) -> Wholes:
        """Dismiss alarms for which too little has spoken for too long."""
        waits = sight.alarm & (sight.order == Order.NONE) & ~suspect
        self._calm = np.where(waits, self._calm + np.int16(1), np.int16(0))
        over = (self._calm > np.where(self._sum > 0, LONGEST, CALM)) & (claims < 0)
        return np.where(over, np.where(sight.age > 3, CLAIM_NETWORK, CLAIM_DISTURBANCE), claims).astype(np.int16)

    def _watched(self, sight: Sight) -> Flags:
        """Return where somebody is, or goes, to measure."""
        found = np.zeros((len(sight.to), STATIONS + 1), np.bool_)
        rows, who = np.nonzero(sight.inspecting)
        found[rows, sight.to[rows, who]] = True
        return found[:, :STATIONS]
