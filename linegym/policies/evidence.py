"""What speaks for each fault class at each station: residuals, smoothed, against the signature of the class.

Every delivered sample counts once, against what was expected when it was taken; a sample that does not come says
nothing. How much a deviation weighs follows from how much the whole line deviates: disturbances that all stations share
(noise, sines, wander) raise the bar for all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linegym import layout
from linegym.plant import CHANNELS, FAULTS, STATIONS, Fault, Panel, Quantity
from linegym.policies.expected import Expected
from linegym.policies.policy import Lineup, Rows
from linegym.policies.sight import Flags, Reals, Sight
from linegym.policies.signatures import FEATURES, signatures

SMOOTHING = np.float32(0.12)
"""Gain of the smoothed residuals."""
LARGEST = np.float32(7.0)
"""Residuals beyond this are cut to it: an impulse is no fault [usual spread]."""
NOISE_GAIN = np.float32(0.03)
SCAN_GAIN = np.float32(0.06)
"""Gain of the scan that the time of a part is held against: about four parts, as the time itself."""
FLOOR = (0.15, 0.15, 0.15, 0.07)
"""Smallest deviation that counts as the line's own, by feature."""
STARTING = (0.35, 0.35, 0.35, 0.12)
"""The same as a first guess."""
FITTED = (Fault.BEARING, Fault.OVERHEAT, Fault.JAM, Fault.TOOL_WEAR, Fault.LEAK)
"""Classes with a signature in several features."""
LEAST = np.float32(0.35)
"""Smallest severity that is fitted."""
MEASURED = np.float32(0.3)
"""Uncertainty of an inspection, for what happens between it and now [usual spread]."""
BELIEVED = 40
"""How long an inspection counts [ticks]."""
SPREADS = (-0.08, -0.04, 0.0, 0.04, 0.08)
"""Where the spread of process times is sampled."""


class Evidence:
    """Gains in log-likelihood of each fault class over no fault, from all that came so far."""

    def __init__(self) -> None:
        self.expected = Expected()
        self._allocate(0)

    def _allocate(self, n: int) -> None:
        shape = (n, STATIONS)
        self.shown = np.zeros((FEATURES, FAULTS + 1, n), np.float32)
        """what each class adds to each feature at full severity"""
        self.present = np.zeros(shape, np.float32)
        """1 where there is a station"""
        self._share = np.ones((n, 1), np.float32)
        self._cycles = np.ones(shape, np.float32)
        self._vibration = np.zeros((CHANNELS, n, 1), np.float32)
        self._speed = np.zeros((n, 1), np.float32)
        self.deviation = np.zeros((FEATURES, *shape), np.float32)
        """smoothed residuals [usual spread; share of the cycle time]"""
        self._variance = np.zeros((FEATURES, n, 1), np.float32)
        self._age = np.full(shape, -1, np.int16)
        self._first = np.zeros(shape, np.float32)
        self.flat = np.zeros(shape, np.int16)
        """equal samples of the primary sensor in a row"""
        self.duty = np.zeros(shape, np.float32)
        """smoothed share of time at work"""
        self._scan = np.ones(shape, np.float32)
        self._clean = np.zeros((CHANNELS, *shape), np.float32)
        self.measured = np.full((CHANNELS, *shape), np.nan, np.float32)
        """what the last inspection measured, less what was expected; NaN: none, or too long ago [usual spread]"""
        self.since = np.full(shape, 100, np.int16)
        """ticks since the last inspection"""

    def begin(self, lineup: Lineup, rows: Rows | None = None) -> None:
        """Forget these rows, read their plants."""
        if rows is None:
            self._allocate(lineup.n)
            rows = np.ones(lineup.n, np.bool_)
        self.expected.begin(lineup, None if rows.all() else rows)
        quantities = lineup.whole[rows, layout.T_QUANTITY : layout.T_QUANTITY + CHANNELS]
        used = np.arange(STATIONS) < lineup.whole[rows, layout.T_STATIONS][:, None]
        self.shown[:, :, rows] = signatures(lineup)[:, :, rows]
        self.present[rows] = used
        self._share[rows, 0] = 1 / lineup.whole[rows, layout.T_STATIONS]
        cycles = lineup.whole[rows, : layout.T_CAPACITY].reshape(-1, STATIONS, layout.T_STRIDE)[:, :, layout.T_CYCLE]
        self._cycles[rows] = cycles / 1024
        self._vibration[:, rows, 0] = (quantities == Quantity.VIBRATION).T
        self._speed[rows, 0] = quantities[:, 0] == Quantity.SPEED
        self.deviation[:, rows], self._clean[:, rows], self.measured[:, rows] = 0, 0, np.nan
        self._variance[:, rows, 0] = np.square(np.array(STARTING, np.float32))[:, None]
        self._age[rows], self.flat[rows], self.since[rows] = -1, 0, 100
        self._first[rows], self.duty[rows], self._scan[rows] = 0, 0, 1

    def take(self, sight: Sight) -> None:
        """Take over what has come in this tick."""
        self.expected.advance(sight)
        fresh = sight.age <= self._age
        self._age = sight.age
        same = sight.values[0] == self._first
        self.flat = np.where(fresh, np.where(same, self.flat + np.int16(1), np.int16(0)), self.flat)
        self._first = np.where(fresh, sight.values[0], self._first)
        gain = fresh * self.present * SMOOTHING
        wanted = self.expected.of_age(sight.age)
        for k in range(CHANNELS):
            residual = np.clip(sight.values[k] - wanted[k], -LARGEST, LARGEST)
            self.deviation[k] += gain * (residual - self.deviation[k])
        running = (sight.panel == Panel.RUNNING).astype(np.float32)
        self.duty += SMOOTHING * (running - self.duty)
        self._scan += SCAN_GAIN * (np.maximum(sight.scan, np.float32(1)) - self._scan)  # a fast scan hurries nobody
        self.deviation[CHANNELS] = self.present * (sight.cycle / self._usual_cycle() - 1)
        self._learn()
        self._note_inspections(sight)

    def _usual_cycle(self) -> Reals:
        """Return the time of a part without fault: whole ticks, at the scan of late [nominal]."""
        ticks = self._cycles * self._scan
        found = np.zeros_like(ticks)
        for spread in SPREADS:
            found += np.ceil(ticks * np.float32(1 + spread))
        usual: Reals = found / (np.float32(len(SPREADS)) * self._cycles)
        return usual

    def _learn(self) -> None:
        """Learn how much the line deviates of itself; single stations that deviate more are cut."""
        for k in range(FEATURES):
            variance = self._variance[k]
            most = 6 * variance
            size = np.minimum(np.square(self.deviation[k]), most) * self.present
            variance += NOISE_GAIN * (size.sum(axis=1, keepdims=True) * self._share - variance)

    def _note_inspections(self, sight: Sight) -> None:
        """Compare what was measured by hand with what was expected."""
        self.since = sight.inspected
        rows, stations = np.nonzero((sight.inspected == 0) & (self.present > 0))
        if len(rows):
            for k in range(CHANNELS):
                clean = sight.clean[k][rows, stations]
                new = clean != self._clean[k][rows, stations]
                self.measured[k][rows[new], stations[new]] = (
                    clean[new] - self.expected.now()[k][rows[new], stations[new]]
                )
                self._clean[k][rows, stations] = clean
        stale = self.since > BELIEVED
        for k in range(CHANNELS):
            self.measured[k][stale] = np.nan

    def forget(self, where: Flags, physical: Flags) -> None:
        """Begin anew at stations that were just repaired.

        Args:
            where: (n, 24) which.
            physical: (n, 24) where what deviated was the station itself and fades, not its sensor.
        """
        for k in range(CHANNELS):
            fading = where & physical
            self.expected.now()[k][fading] += self.deviation[k][fading]
            self.measured[k][where] = np.nan
        self.deviation[:, where] = 0
        self.flat[where] = 0

    def weights(self) -> Reals:
        """Return what a squared deviation of each feature weighs: (FEATURES, n, 1)."""
        floor = np.square(np.array(FLOOR, np.float32))[:, None, None]
        return np.reciprocal(np.maximum(self._variance, floor), dtype=np.float32)

    def gains(self) -> dict[Fault, Reals]:
        """Return how much better each class explains what came than no fault does: (n, 24) each."""
        weights = self.weights()
        found: dict[Fault, Reals] = {}
        busy = np.float32(0.25) + np.float32(0.75) * self.duty
        factors = [1 + self._vibration[k] * (busy - 1) for k in range(CHANNELS)]
        factors[0] = factors[0] + self._speed * (self.duty - 1)
        factors.append(np.ones((1, 1), np.float32))
        pulls = [self.deviation[k] * factors[k] for k in range(FEATURES)]
        squares = [np.square(factor) for factor in factors]
        looked = np.nonzero(~np.isnan(self.measured).all(axis=0))
        for fault in FITTED:
            shown = self.shown[:, fault, :, None]
            pull, size = np.zeros_like(self.duty), np.zeros_like(self.duty)
            for k in range(FEATURES):
                pull += pulls[k] * (weights[k] * shown[k])
                size += squares[k] * (weights[k] * np.square(shown[k]))
            if len(looked[0]):
                more_pull, more_size = self._measurement(looked, shown)
                pull[looked] += more_pull
                size[looked] += more_size
            severity: Reals = np.clip(pull / np.maximum(size, np.float32(1e-6)), LEAST, np.float32(1))
            found[fault] = severity * (2 * pull - severity * size)
        found[Fault.SENSOR_DRIFT] = weights[0] * np.square(self.deviation[0]) - 2
        return found

    def _measurement(self, looked: tuple[NDArray[np.int64], ...], shown: Reals) -> tuple[Reals, Reals]:
        """Return what inspections add to the fit of a class."""
        pull = np.zeros(len(looked[0]), np.float32)
        size = np.zeros(len(looked[0]), np.float32)
        weight = 1 / np.square(MEASURED)
        for k in range(CHANNELS):
            measured = self.measured[k][looked]
            there = ~np.isnan(measured)
            signature = shown[k][looked[0], 0]
            pull += np.where(there, weight * signature * measured, 0)
            size += np.where(there, weight * np.square(signature), 0)
        return pull, size
