"""What a sound station should read now: the plant's published physics, fed with what its stack light shows.

A reading that departs from it is not explained by the station's own work or by the load of its controller; that is
how the common mode of a line is taken out. Readings arrive late, so each is held against what was expected when it
was taken.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linegym import layout
from linegym.plant import (
    CHANNELS,
    CURRENT_EFFORT,
    CURRENT_IDLE,
    HEAT,
    LAG,
    NOMINAL,
    PRESSURE_EFFORT,
    PRESSURE_IDLE,
    SCALE,
    STATIONS,
    THROTTLED_SPEED,
    VIBRATION_EFFORT,
    VIBRATION_IDLE,
    Panel,
    Quantity,
)
from linegym.policies.policy import Lineup, Rows
from linegym.policies.sight import Reals, Sight

REMEMBERED = 8
"""Ticks that expectations are kept; older samples are held against the oldest."""

# At rest, by quantity [unit]; temperature from the station's base. Speed stands still.
_IDLE = np.array([0.0, VIBRATION_IDLE, CURRENT_IDLE, PRESSURE_IDLE, 0.0])
_EFFORT = np.array([HEAT, VIBRATION_EFFORT, CURRENT_EFFORT, -PRESSURE_EFFORT, 100.0])
"""What full effort adds."""
_USUAL, _SCALE, _LAG = np.array(NOMINAL), np.array(SCALE), np.array(LAG)


class Expected:
    """Expected readings of all channels of all stations [usual spread]."""

    def __init__(self) -> None:
        self._idle = self._effort = self._lag = np.zeros((CHANNELS, 0, 1), np.float32)
        self._fast = np.zeros((0, 1), np.bool_)
        self._now = np.zeros((CHANNELS, 0, STATIONS), np.float32)
        self._past = np.zeros((REMEMBERED, CHANNELS, 0, STATIONS), np.float32)
        self._tick = 0

    def begin(self, lineup: Lineup, rows: Rows | None = None) -> None:
        """Start with stations at rest."""
        quantities = lineup.whole[:, layout.T_QUANTITY : layout.T_QUANTITY + CHANNELS].T
        given = [
            ((table[quantities])[:, :, None]).astype(np.float32)
            for table in ((_IDLE - _USUAL) / _SCALE, _EFFORT / _SCALE, _LAG)
        ]
        rest = np.broadcast_to(given[0], (CHANNELS, lineup.n, STATIONS))
        fast = quantities[0][:, None] == Quantity.SPEED
        if rows is None:
            self._idle, self._effort, self._lag = given
            self._fast = fast
            self._now = rest.copy()
            self._past = np.broadcast_to(rest, (REMEMBERED, *rest.shape)).copy()
            self._tick = 0
            return
        for kept, new in zip((self._idle, self._effort, self._lag), given, strict=True):
            kept[:, rows] = new[:, rows]
        self._fast[rows] = fast[rows]
        self._now[:, rows] = rest[:, rows]
        self._past[:, :, rows] = rest[:, rows]

    def advance(self, sight: Sight) -> None:
        """Let a tick pass in which stations did what is seen."""
        pace = np.where(sight.throttled, np.float32(THROTTLED_SPEED), np.float32(1)) * (sight.panel == Panel.RUNNING)
        effort = pace * sight.scan
        first = np.where(self._fast, pace / np.maximum(sight.scan, np.float32(1)), effort)
        for k in range(CHANNELS):
            target = self._idle[k] + self._effort[k] * (effort if k else first)
            self._now[k] += self._lag[k] * (target - self._now[k])
        self._tick += 1
        self._past[self._tick % REMEMBERED] = self._now

    def of_age(self, age: NDArray[np.int16]) -> Reals:
        """Return what was expected this many ticks ago: (3, n, 24)."""
        slots = (self._tick - np.minimum(age, REMEMBERED - 1)) % REMEMBERED
        n = self._now[0].size
        flat = slots.ravel().astype(np.int64) * (CHANNELS * n) + np.arange(n)
        past = self._past.reshape(-1)
        return np.stack([past[flat + k * n].reshape(age.shape) for k in range(CHANNELS)])

    def now(self) -> Reals:
        """Return what is expected now: (3, n, 24)."""
        return self._now
