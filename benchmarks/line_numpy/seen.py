"""The observation, the mask and the facts after a tick."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linegym import layout as L
from linegym import plant as P

from . import flow
from .commands import may_diagnose
from .state import Lines, Reals

PHASES = np.array([0, 2, 3, 4, 4])


def observe(lines: Lines, out: NDArray[np.float32]) -> None:
    """Write the observations (n, 632) in the order of the lines' rows; unused places stay 0."""
    t, seen = int(lines.whole(L.I_TICK)[0]), np.empty((lines.cells, L.SEEN_STRIDE), np.float32)
    _channels(lines, seen)
    _station(lines, t, seen)
    places = out[:, : L.SEEN_CREW].reshape(lines.n, P.STATIONS, L.SEEN_STRIDE)
    places[lines.sorted[lines.env], lines.station] = seen
    rest = np.empty((lines.n, L.SEEN_ROW - L.SEEN_CREW), np.float32)
    _crew(lines, t, rest)
    _line(lines, t, rest[:, L.SEEN_LINE - L.SEEN_CREW :])
    out[lines.sorted, L.SEEN_CREW :] = rest


def _channels(lines: Lines, seen: NDArray[np.float32]) -> None:
    three = slice(L.F_SEEN, L.F_SEEN + P.CHANNELS), slice(L.F_VARIANCE, L.F_VARIANCE + P.CHANNELS)
    value, variance = (lines.f[fields].astype(np.float64) for fields in three)
    seen[:, 0:3] = np.clip((value - lines.usual) / lines.scale, -50, 50).T
    seen[:, 3:6] = np.minimum(np.sqrt(variance) / lines.scale, 50).T
    seen[:, 20:23] = np.clip(lines.f[L.F_CLEAN : L.F_CLEAN + P.CHANNELS], -50, 50).T


def _station(lines: Lines, t: int, seen: NDArray[np.float32]) -> None:
    h, f = lines.h, lines.f
    order, inspected = h[L.H_ORDER], h[L.H_INSPECTED]
    panel = np.where(flow.is_down(lines, t), 3, np.where(h[L.H_STOPPED] == 1, 4, h[L.H_WORK]))
    seen[:, 6] = np.minimum(t - 1 - h[L.H_LAST], 64) / 16.0
    seen[:, 7] = np.minimum(f[L.F_GAP], 64) / 8
    seen[:, 8] = f[L.F_SEEN + P.CHANNELS]
    seen[:, 9] = np.minimum(f[L.F_CYCLE], 8)
    seen[:, 10] = np.minimum(h[L.H_DONE], 1000) / 100.0
    seen[:, 11] = _fill(lines, lines.in1, P.SOURCE, 1)
    seen[:, 12] = _fill(lines, lines.out1, P.SINK, 0)
    seen[:, 13] = panel / 4
    seen[:, 14] = order / 4
    seen[:, 15] = (h[L.H_CLAIM] + 1) / 8
    seen[:, 16] = np.where(order != P.Order.NONE, np.minimum(t - h[L.H_OPENED], 200) / 100.0, 0)
    seen[:, 17] = (h[L.H_TECH] + 1) / 6.0
    seen[:, 18], seen[:, 19] = h[L.H_ALARM], h[L.H_THROTTLED]
    seen[:, 23] = np.where(inspected >= 0, np.minimum(t - inspected, 100) / 100.0, 1)


def _fill(lines: Lines, b: NDArray[np.int32], endless: int, full: int) -> Reals:
    level = lines.short(L.H_BUFFER, P.BUFFERS)[b, lines.env].astype(np.float64)
    capacity = np.where(b == endless, 1, lines.capacity[b, lines.env])
    return np.where(b == endless, full, level / capacity)


def _crew(lines: Lines, t: int, out: NDArray[np.float32]) -> None:
    technicians = out[:, : 4 * P.TECHNICIANS].reshape(lines.n, P.TECHNICIANS, 4)
    state, at, to, timer = (
        lines.short(field, P.TECHNICIANS).T.astype(np.float64)
        for field in (L.H_TECH_STATE, L.H_TECH_AT, L.H_TECH_TO, L.H_TECH_TIMER)
    )
    for place, column in enumerate((state / 4, at / 24, (to + 1) / 24, np.minimum(timer, 50) / 50)):
        technicians[..., place] = column
    stock, coming, comes = (
        lines.short(field, P.PARTS).T.astype(np.float64) for field in (L.H_STOCK, L.H_COMING, L.H_COMES)
    )
    parts = out[:, 4 * P.TECHNICIANS : L.SEEN_LINE - L.SEEN_CREW].reshape(lines.n, P.PARTS, 3)
    parts[..., 0], parts[..., 1] = np.minimum(stock, 10) / 10, np.minimum(coming, 10) / 10
    parts[..., 2] = np.clip(comes - t, 0, 200) / 200


def _line(lines: Lines, t: int, out: NDArray[np.float32]) -> None:
    h, idle = lines.h, (lines.short(L.H_TECH_STATE, P.TECHNICIANS) == P.Crew.IDLE).sum(axis=0)
    out[:, 0] = t / lines.horizon
    out[:, 1] = np.minimum(lines.whole(L.I_OUTPUT) / lines.whole_shift, 4)
    out[:, 2] = np.minimum(lines.whole(L.I_SCRAP) / lines.whole_shift, 4)
    out[:, 3] = np.bincount(lines.env[h[L.H_ALARM] == 1], minlength=lines.n) / 24
    out[:, 4] = idle / 6
    out[:, 5] = lines.whole(L.I_INVALID)
    out[:, 6] = lines.stations / 24
    out[:, 7] = np.bincount(lines.env[h[L.H_ORDER] != P.Order.NONE], minlength=lines.n) / 24


def possible(lines: Lines, masks: NDArray[np.bool_]) -> None:
    """Write which flat actions are possible (n, 545), in the order of the lines' rows; unused places stay False."""
    h, row, s = lines.h, lines.sorted[lines.env], lines.station
    idle = lines.short(L.H_TECH_STATE, P.TECHNICIANS) == P.Crew.IDLE
    orderable = lines.short(L.H_COMES, P.PARTS) == -1
    masks[:, 0] = True
    masks[lines.sorted, P.FIRST_ORDER : P.FIRST_DISPATCH] = np.repeat(orderable, 2, axis=0).T
    _place(masks, P.FIRST_INSPECT, P.CHANNELS)[row, s] = idle.any(axis=0)[lines.env, None]
    _place(masks, P.FIRST_DIAGNOSE, P.CLAIMS)[row, s] = may_diagnose(h, int(lines.whole(L.I_TICK)[0]))[:, None]
    opened, waiting = h[L.H_ORDER] == P.Order.OPEN, h[L.H_THROTTLE_DUE] >= 0
    ready = opened & (lines.short(L.H_STOCK, P.PARTS)[np.maximum(h[L.H_CLAIM], 0), lines.env] > 0)
    sent = masks[:, P.FIRST_DISPATCH : P.FIRST_CLOSE].reshape(lines.n, P.TECHNICIANS, P.STATIONS)
    sent[row, :, s] = (ready & idle[:, lines.env]).T
    masks[row, P.FIRST_CLOSE + s] = opened | (h[L.H_ORDER] == P.Order.DONE)
    masks[row, P.FIRST_THROTTLE + 2 * s] = ~waiting & (h[L.H_THROTTLED] != 0)
    masks[row, P.FIRST_THROTTLE + 2 * s + 1] = ~waiting & (h[L.H_THROTTLED] != 1)


def _place(masks: NDArray[np.bool_], first: int, width: int) -> NDArray[np.bool_]:
    """Return a view (n, stations, width) of the actions that name a station."""
    return masks[:, first : first + P.STATIONS * width].reshape(len(masks), P.STATIONS, width)


def tell(lines: Lines, facts: NDArray[np.int32]) -> None:
    """Write the facts (FACTS, n) but for the order closed in this step."""
    h = lines.h
    phase = np.zeros(lines.n, np.int32)
    here = np.where(h[L.H_ORDER] == P.Order.NONE, h[L.H_ALARM], PHASES[h[L.H_ORDER]])
    busy = np.flatnonzero(here)
    np.maximum.at(phase, lines.env[busy], here[busy])
    fields = (L.I_EPISODE, L.I_TICK, L.I_INVALID, None, L.I_OUTPUT, L.I_SCRAP, L.I_FAULTS, L.I_FAULTS_DUE)
    for place, field in enumerate((*fields, L.I_CLOSED, L.I_CLOSED_DUE, L.I_WRONG, L.I_LATE, L.I_SUCCESS)):
        facts[place] = phase if field is None else lines.whole(field)
