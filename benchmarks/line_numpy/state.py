"""The lines' parameters and state as flat arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from line_rows import Rows, empty_state
from numpy.typing import NDArray

from linegym import layout as L
from linegym import plant as P

from . import numbers

Index = NDArray[np.intp]
Mask = NDArray[np.bool_]
Reals = NDArray[np.float64]
Numbers = NDArray[Any]
"""Of one of the three kinds of state."""
Counts = NDArray[np.int64]

SCALE, NOMINAL, LAG = np.array(P.SCALE), np.array(P.NOMINAL), np.array(P.LAG)


class Lines:
    """``n`` lines, sorted by length; the ``cells`` are their stations: all first ones, all second ones, and so on."""

    def __init__(self, rows: Rows, horizon: int) -> None:
        self.rows, self.horizon, self.n = rows, horizon, rows.n
        stations = rows.plants_short[rows.which, L.T_STATIONS]
        self.sorted: Index = np.argsort(-stations, kind="stable")
        """Which row each line is."""
        which = rows.which[self.sorted]
        self.T = np.ascontiguousarray(rows.plants_short[which].T)  # (T_ROW, n)
        self.G = np.ascontiguousarray(rows.plants_real[which].T)  # (G_ROW, n)
        self.V = np.ascontiguousarray(rows.laws[self.sorted].T)  # (V_ROW, n)
        self.stations = self.T[L.T_STATIONS]
        lengths = [int((self.stations > s).sum()) for s in range(P.STATIONS)]
        self.offset = np.concatenate([[0], np.cumsum(lengths)])
        """Cell of station ``s`` of line ``e``: ``offset[s] + e``."""
        self.env: Index = np.concatenate([np.arange(length) for length in lengths])
        self.station = np.repeat(np.arange(P.STATIONS), lengths)
        self.cells = len(self.env)
        self.h = np.zeros((L.H_STRIDE, self.cells), np.int16)
        self.i = np.zeros((L.I_STRIDE, self.cells), np.int32)
        self.f = np.zeros((L.F_STRIDE, self.cells), np.float32)
        self._short = np.zeros((L.H_ROW - L.H_BUFFER, self.n), np.int16)
        self._whole = np.zeros((L.I_ROW - L.I_LINE, self.n), np.int32)
        self._real = np.zeros((L.F_ROW - L.F_LINE, self.n), np.float32)
        self.seeds = np.zeros(self.n, np.uint64)
        self._parameters()

    def short(self, field: int, count: int) -> NDArray[np.int16]:
        return self._short[field - L.H_BUFFER : field - L.H_BUFFER + count]

    def whole(self, field: int) -> NDArray[np.int32]:
        row: NDArray[np.int32] = self._whole[field - L.I_LINE]
        return row

    def line_real(self, field: int, count: int = 1) -> NDArray[np.float32]:
        return self._real[field - L.F_LINE : field - L.F_LINE + count]

    def real(self, field: int, cells: Index | slice = slice(None)) -> Reals:
        """Return a field of the stations as doubles: arithmetic on the float32 itself would round at every step."""
        return self.f[field, cells].astype(np.float64)

    def _parameters(self) -> None:
        """Spread over the cells what every tick asks for."""
        env, station = self.env, self.station
        T, G = self.T, self.G
        self.cycle, self.in1, self.in2, self.out1, self.out2 = (
            T[station * L.T_STRIDE + field, env] for field in (L.T_CYCLE, L.T_IN1, L.T_IN2, L.T_OUT1, L.T_OUT2)
        )
        self.base, self.plc = (G[station * L.G_STRIDE + field, env] for field in (L.G_BASE, L.G_PLC))
        self.quantity = T[L.T_QUANTITY : L.T_QUANTITY + P.CHANNELS, env]  # (3, cells)
        self.source = np.where(self.quantity < P.CHANNELS, L.F_TEMPERATURE + self.quantity, L.F_AUX)
        """Field that each channel measures."""
        self.scale = SCALE[self.quantity]
        self.usual = NOMINAL[self.quantity] + np.where(self.quantity == P.Quantity.TEMPERATURE, self.base, 0.0)
        self.pressure = np.flatnonzero(self.quantity[0] == P.Quantity.PRESSURE)
        self.speed = np.flatnonzero(self.quantity[0] == P.Quantity.SPEED)
        self.law = self.V[:, env]  # (V_ROW, cells)
        self.noise = np.where(np.arange(P.CHANNELS)[:, None] == 0, G[L.G_NOISE, env], P.SECONDARY_NOISE)
        self.switch = station // P.STATIONS_A_SWITCH
        self.capacity = T[L.T_CAPACITY : L.T_CAPACITY + P.BUFFERS]
        self.whole_shift = G[L.G_NOMINAL] * self.horizon
        self.arrivals = numbers.poisson_ladder(self.V[L.V_ARRIVALS], self.V[L.V_EXP_ARRIVALS], 32)
        self.latency = numbers.poisson_ladder(self.V[L.V_LATENCY], self.V[L.V_EXP_LATENCY], 12)[:, env]

    def begin(self, episode: int) -> None:
        """Set all lines to the start of an episode."""
        for array in (self.h, self.i, self.f, self._short, self._whole, self._real):
            array[:] = 0
        self.whole(L.I_EPISODE)[:] = episode
        self.keys = numbers.episode_keys(self.rows.uids[self.sorted], self.seeds, episode)
        self.cell_keys = self.keys[self.env]
        self._begin_stations()
        first = numbers.words(self.keys, P.Stream.PLAN, np.zeros(self.n, np.int64), 0)[0]
        certain = (first * self.stations.astype(np.uint64)) >> np.uint64(32)
        every = np.arange(self.cells)
        self.plan(every, certain[self.env] == self.station)
        self.short(L.H_BUFFER, 1)[P.SOURCE] = 1
        for k in range(P.TECHNICIANS):
            self.short(L.H_TECH_AT, P.TECHNICIANS)[k] = k * self.stations // P.TECHNICIANS
        self.short(L.H_TECH_TO, P.TECHNICIANS)[:] = -1
        self.short(L.H_STOCK, P.PARTS)[:] = self.T[L.T_STOCK : L.T_STOCK + P.PARTS]
        self.short(L.H_COMES, P.PARTS)[:] = -1
        self.line_real(L.F_SCAN)[:] = 1
        self.line_real(L.F_SRTT, P.SWITCHES)[:] = self.V[L.V_RTT]
        self.line_real(L.F_RTTVAR, P.SWITCHES)[:] = self.V[L.V_RTT] * 0.5

    def _begin_stations(self) -> None:
        h, f = self.h, self.f
        h[L.H_DEST] = 1
        for field in (L.H_CLAIM, L.H_TECH, L.H_LAST, L.H_THROTTLE_DUE, L.H_INSPECTED):
            h[field] = -1
        h[L.H_DUE :] = -1
        f[L.F_TEMPERATURE] = self.base
        f[L.F_VIBRATION], f[L.F_CURRENT] = P.VIBRATION_IDLE, P.CURRENT_IDLE
        f[L.F_AUX, self.pressure] = P.PRESSURE_IDLE
        f[L.F_CYCLE] = f[L.F_SEEN + P.CHANNELS] = 1
        for field in (L.F_HELD, L.F_SEEN, L.F_MEAN):
            f[field : field + P.CHANNELS] = self.usual
        signed = np.flatnonzero(self.law[L.V_SIGNED] == 1)
        w = numbers.words(self.cell_keys[signed], P.Stream.PHASE, self.station[signed], 0)
        h[L.H_PHASE, signed] = (w[0] * np.uint64(P.SINE_ENTRIES)) >> np.uint64(32)
        h[L.H_JITTER, signed] = ((w[1] * np.uint64(129)) >> np.uint64(32)).astype(np.int64) - 64

    def plan(self, cells: Index, certain: Mask) -> None:
        """Decide when and how these stations fail next."""
        env, renewal = self.env[cells], self.h[L.H_RENEWALS, cells]
        w = numbers.words(self.cell_keys[cells], P.Stream.FAULT, self.station[cells], renewal)
        chance, dominant = self.G[L.G_FAULT, env], self.T[L.T_DOMINANT, env]
        share = np.where(certain, P.CERTAIN_SHARE, P.PLANNED_SHARE)
        span = np.maximum(0.0, share * self.horizon - P.FIRST_ONSET)
        ticks = P.FIRST_ONSET + (numbers.unit(w[1]) * span).astype(np.int64)
        planned = (chance >= 0) & (certain | (numbers.unit(w[0]) < chance))
        onset = self.i[L.I_EXPOSURE, cells] + P.EXPOSURE_TICK * ticks
        fault = 1 + (((w[2] & np.uint64(0xFFFF)) * np.uint64(P.FAULTS)) >> np.uint64(16)).astype(np.int64)
        keep = certain | (numbers.unit(w[2]) < P.DOMINANT) | ((self.T[L.T_ALLOWED, env] >> fault) & 1 == 0)
        self.i[L.I_ONSET, cells] = np.where(planned, onset, P.NEVER)
        self.h[L.H_NEXT, cells] = np.where(keep, dominant, fault)
        self.h[L.H_SIGN, cells] = np.where(w[3] & np.uint64(1), 1, -1)

    def as_rows(self) -> tuple[NDArray[np.int16], NDArray[np.int32], NDArray[np.float32]]:
        """Return the state in the kernel's form, in the order of the rows given."""
        rows = empty_state(self.n)
        arrays: tuple[Numbers, ...] = rows
        for array, (cells, line, stride) in zip(arrays, self._parts(), strict=True):
            array[:, P.STATIONS * stride :][self.sorted] = line.T
            self._stations(array, stride)[self.sorted[self.env], self.station] = cells.T
        return rows

    def load(self, *rows: Numbers) -> None:
        """Take over a state in the kernel's form, of lines at one tick."""
        for array, (cells, line, stride) in zip(rows, self._parts(), strict=True):
            line[:] = array[:, P.STATIONS * stride :][self.sorted].T
            cells[:] = self._stations(array, stride)[self.sorted[self.env], self.station].T

    def _parts(self) -> tuple[tuple[Numbers, Numbers, int], ...]:
        return (
            (self.h, self._short, L.H_STRIDE),
            (self.i, self._whole, L.I_STRIDE),
            (self.f, self._real, L.F_STRIDE),
        )

    def _stations(self, rows: Numbers, stride: int) -> Numbers:
        """Return a view (n, stations, fields) of what the rows say of stations."""
        return rows[:, : P.STATIONS * stride].reshape(self.n, P.STATIONS, stride)
