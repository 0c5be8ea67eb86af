"""Parts through the stations, wear and faults."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linegym import layout as L
from linegym import plant as P

from . import numbers
from .state import SCALE, Index, Lines, Mask, Reals

DERATE, SCRAP, ONSET = np.array(P.FAULT_DERATE), np.array(P.FAULT_SCRAP), np.array(P.FAULT_ONSET)
MOST_STILL = 1000


def is_down(lines: Lines, t: int) -> Mask:
    h = lines.h
    fault = h[L.H_FAULT]
    down: Mask = (fault == P.Fault.JAM) | (fault == P.Fault.PLC_COMM)
    down |= (fault == P.Fault.OVERHEAT) & (lines.f[L.F_TEMPERATURE] > P.HOT)
    down |= (h[L.H_ORDER] == P.Order.REPAIR) | (h[L.H_TRIP] > P.TRIP_DOWN)
    down |= (h[L.H_ALARM] == 1) & (h[L.H_ORDER] == P.Order.NONE) & (t - h[L.H_ALARM_AT] > P.ALARM_STOPS)
    return down


def flow(lines: Lines, up: Mask, scan: Reals, t: int) -> NDArray[np.int64]:
    """Work one tick; return the scrap of each line."""
    h = lines.h
    stopped, working = h[L.H_STOPPED] == 1, h[L.H_WORK] == 1
    busy = np.flatnonzero(up & ~stopped & working)
    derate = 1 - DERATE[h[L.H_FAULT, busy]] * lines.real(L.F_SEVERITY, busy)
    speed = derate / np.maximum(1, scan[busy])
    slow = h[L.H_THROTTLED, busy] == 1
    speed[slow] *= P.THROTTLED_SPEED
    timer = h[L.H_TIMER, busy] - (1024 * speed).astype(np.int16)
    h[L.H_TIMER, busy] = timer
    finished = busy[timer <= 0]
    asks = up & (stopped | ~working)
    asks[finished] = True
    cells = np.flatnonzero(asks)
    words = numbers.words(lines.cell_keys[cells], P.Stream.FLOW, lines.station[cells], t)
    u = np.empty((3, lines.cells))
    u[:, cells] = numbers.unit(words[:3])
    stopped = cells[stopped[cells]]
    h[L.H_STOPPED, stopped[u[2, stopped] < lines.G[L.G_CLEAR, lines.env[stopped]]]] = 0
    scrapped = [_finish(lines, finished, u[1], t)]
    cells = cells[h[L.H_STOPPED, cells] == 0]
    for block in np.split(cells, np.searchsorted(cells, lines.offset[1:-1])):
        if len(block):
            scrapped.append(_pass_on(lines, block))
            _load(lines, block, u, t)
    return np.bincount(np.concatenate(scrapped), minlength=lines.n)


def _finish(lines: Lines, cells: Index, luck: Reals, t: int) -> Index:
    """End the work on these parts; return the lines where one became scrap."""
    h, env, u = lines.h, lines.env[cells], luck[cells]
    cycle = lines.real(L.F_CYCLE, cells)
    took = (t - h[L.H_LOADED, cells]) * 1024.0 / lines.cycle[cells]
    lines.f[L.F_CYCLE, cells] = cycle + P.CYCLE_GAIN * (took - cycle)
    q = lines.G[L.G_SCRAP, env] + SCRAP[h[L.H_FAULT, cells]] * lines.real(L.F_SEVERITY, cells)
    bad = u < q
    second = (lines.out2[cells] >= 0) & (u < q + lines.G[L.G_SPLIT, env])
    h[L.H_WORK, cells] = np.where(bad, 0, 2)
    h[L.H_DEST, cells[~bad]] = np.where(second, 2, 1)[~bad]
    scrapped: Index = env[bad]
    return scrapped


def _pass_on(lines: Lines, cells: Index) -> Index:
    """Pass finished parts of one station of every line on; return the lines where one became scrap."""
    h, buffer = lines.h, lines.short(L.H_BUFFER, P.BUFFERS)
    cells = cells[h[L.H_WORK, cells] == 2]
    env, second = lines.env[cells], h[L.H_DEST, cells] == 2
    to = np.where(second, lines.out2[cells], lines.out1[cells])
    room = (to == P.SINK) | (buffer[to, env] < lines.capacity[to, env])
    buffer[to[room], env[room]] += 1
    h[L.H_DONE, cells[room]] += 1
    scrapped = ~room & second & (lines.T[L.T_REWORK, env] == 1)
    h[L.H_WORK, cells[room | scrapped]] = 0
    lost: Index = env[scrapped]
    return lost


def _load(lines: Lines, cells: Index, u: Reals, t: int) -> None:
    """Load a part into each free station of these, where there is one."""
    h, buffer = lines.h, lines.short(L.H_BUFFER, P.BUFFERS)
    cells = cells[h[L.H_WORK, cells] == 0]
    env, in1, in2 = lines.env[cells], lines.in1[cells], lines.in2[cells]
    ready = (buffer[in1, env] > 0) & ((in2 < 0) | (buffer[in2, env] > 0))
    cells, env, in1, in2 = cells[ready], env[ready], in1[ready], in2[ready]
    for taken in (in1, in2):
        counted = taken > P.SOURCE
        buffer[taken[counted], env[counted]] -= 1
    spread = 1 + lines.G[L.G_SPREAD, env] * (2 * u[0, cells] - 1)
    h[L.H_WORK, cells] = 1
    h[L.H_TIMER, cells] = (lines.cycle[cells] * spread).astype(np.int16)
    h[L.H_LOADED, cells] = t
    h[L.H_STOPPED, cells[u[2, cells] < lines.G[L.G_MINOR, env]]] = 1


def wear(lines: Lines, effort: Reals, t: int) -> None:
    """Bring faults nearer, let them appear, let present ones grow."""
    h, f, exposure = lines.h, lines.f, lines.i[L.I_EXPOSURE]
    exposure += P.EXPOSURE_REST + (P.EXPOSURE_EFFORT * effort).astype(np.int32)
    present = h[L.H_FAULT] != P.Fault.NONE
    old, new = np.flatnonzero(present), np.flatnonzero(~present & (exposure >= lines.i[L.I_ONSET]))
    severity = lines.real(L.F_SEVERITY, old)
    f[L.F_SEVERITY, old] = severity + P.SEVERITY_RATE * (1 - severity)
    drifting = old[h[L.H_FAULT, old] == P.Fault.SENSOR_DRIFT]
    scale = SCALE[lines.quantity[0, drifting]]
    bias = lines.real(L.F_BIAS, drifting) + h[L.H_SIGN, drifting] * P.DRIFT_RATE * scale
    f[L.F_BIAS, drifting] = np.clip(bias, -P.DRIFT_LIMIT * scale, P.DRIFT_LIMIT * scale)
    h[L.H_FAULT, new] = fault = h[L.H_NEXT, new]
    h[L.H_FAULT_AT, new] = t
    f[L.F_SEVERITY, new], f[L.F_BIAS, new] = ONSET[fault], 0
    appeared = np.bincount(lines.env[new], minlength=lines.n)
    lines.whole(L.I_FAULTS)[:] += appeared
    if t < P.DUE_SHARE * lines.horizon:
        lines.whole(L.I_FAULTS_DUE)[:] += appeared
