"""The expert's diagnosis: cumulated evidence for each fault class, and somebody sent to look where it is not enough.

Page, "Continuous inspection schemes", Biometrika 41 (1954): what speaks for a fault is summed up, less a drift, never
below zero; beyond a bound it is one.
"""

from __future__ import annotations

import numpy as np

from linegym import layout
from linegym.plant import CHANNELS, CLAIM_DISTURBANCE, CLAIM_NETWORK, FAULTS, STATIONS, STATIONS_A_SWITCH, Fault, Order, Panel
from linegym.policies.desk import Wishes, standing
from linegym.policies.evidence import FITTED, Evidence
from linegym.policies.policy import Infos, Lineup, Rows
from linegym.policies.sight import Flags, Sight, Wholes

DRIFT, BOUND, MOST = np.float32(7.0), np.float32(40.0), np.float32(120.0)
MARGIN = np.float32(6.0)
"""How much better the best class must be than the next, or somebody is sent to look."""
FLAT = 12
"""Equal samples in a row that tell a stuck sensor from one that is held for a moment."""
STANDS = 9
"""Ticks of standstill that no watchdog causes."""
SILENT = 8
"""Age of a sample beyond that of the switch's other stations that is the controller's own doing [ticks]."""
CALM, LONGEST = 10, 20
"""How long an alarm is watched before it is dismissed: when nothing speaks for a fault, and when little does [ticks]."""
RESTS = 12
"""How long a repaired station is left alone [ticks]."""
TRIED = 90
"""How long a class is left out after its repair [ticks]."""


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
        shown = self.evidence._shown[:CHANNELS]
        apart = np.abs(shown[:, :, None] - shown[:, None, :])
        looks = apart.argmax(axis=0).astype(np.int16)
        looks[Fault.SENSOR_DRIFT] = looks[:, Fault.SENSOR_DRIFT] = 0
        self._looks[:, :, rows] = looks[:, :, rows]

    def look(self, sight: Sight, infos: Infos) -> Wishes:
        """Say what is wrong."""
        evidence = self.evidence
        evidence.take(sight)
        self._follow(sight)
        best, second, gain, margin = self._ranked()
        self._sum = np.clip(self._sum + (gain - DRIFT), 0, MOST)
        self._sum[self._rest > 0] = 0
        certain = self._certain(sight, best)
        found = np.where(certain > 0, certain, best)
        suspect = ((self._sum > BOUND) | (certain > 0)) & (sight.order == Order.NONE) & (self._rest == 0)
        looked = evidence.since <= 30
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

    def _ranked(self) -> tuple[Wholes, Wholes, np.ndarray, np.ndarray]:
        """Return the best class, the second, the best's gain and how much better it is than the second's."""
        gains = self.evidence.gains()
        gains[:, self._present_off()] = -np.inf
        down = self._still > 0
        never = np.float32(-1e9)
        gains[Fault.JAM][~down] = never
        for fault in (Fault.BEARING, Fault.TOOL_WEAR, Fault.LEAK, Fault.SENSOR_DRIFT):
            gains[fault][down] = never
        for fault in (*FITTED, Fault.SENSOR_DRIFT):
            gains[fault][(self._tried == fault) & (self._tried_for > 0)] = never
            gains[fault][np.broadcast_to(self._forbidden[fault], down.shape)] = never
        best = gains.argmax(axis=0)
        gain = np.take_along_axis(gains, best[None], axis=0)[0]
        np.put_along_axis(gains, best[None], -np.inf, axis=0)
        second = gains.argmax(axis=0)
        next_gain = np.take_along_axis(gains, second[None], axis=0)[0]
        return best.astype(np.int16), second.astype(np.int16), np.maximum(gain, -100), gain - np.maximum(next_gain, 0)

    def _present_off(self) -> Flags:
        return self.evidence._present == 0

    def _certain(self, sight: Sight, best: Wholes) -> Wholes:
        """Return the class where one sign decides, 0 elsewhere: a flat line, a standstill, a silent controller."""
        n = len(best)
        ages = sight.age.reshape(n, -1, STATIONS_A_SWITCH)
        others = np.where(self.evidence._present.reshape(ages.shape) > 0, ages, 99)
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
