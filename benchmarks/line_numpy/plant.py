"""One tick of all lines: load, switches, stations, crew, parts, output."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linegym import layout as L
from linegym import plant as P

from . import flow, numbers, sensing
from .state import NOMINAL, SCALE, Counts, Index, Lines, Reals

REPAIR_TICKS = np.array(P.REPAIR_TICKS)


def tick(lines: Lines, t: int, reward: Reals) -> None:
    """Advance all lines; ``reward`` (n,) gets what the tick brings, after what the commands cost."""
    scan = _load(lines, t)
    _switches(lines, scan, t)
    scrap = _stations(lines, scan, t)
    _crew(lines, reward, t)
    _parts(lines, t)
    _settle(lines, scrap, reward, t)


def _load(lines: Lines, t: int) -> Reals:
    V, spike = lines.V, lines.short(L.H_SPIKE, 1)[0]
    w = numbers.words(lines.keys, P.Stream.LOAD, np.zeros(lines.n, np.int64), t)
    before = lines.line_real(L.F_AR1, 2)
    ar1, ar2 = before.astype(np.float64)
    ar = P.AR_1 * ar1 + P.AR_2 * ar2 + V[L.V_AR] * numbers.normal(w[0])
    before[1] = before[0]
    before[0] = ar
    begins = np.flatnonzero((spike == 0) & (numbers.unit(w[1]) < V[L.V_SPIKE_P]))
    spike -= spike > 0
    spike[begins] = P.SPIKE_SHORTEST + (w[2, begins] >> np.uint64(28)).astype(np.int16)
    lines.whole(L.I_SPIKE_MASK)[begins] = w[3, begins] & np.uint64(0xFFFFFF)
    wave = numbers.sine(np.array([t * P.PERIODIC_INCREMENT]))[0]
    kept = lines.line_real(L.F_SCAN)
    kept[0] = np.clip(1 + ar + V[L.V_PERIODIC] * wave, P.SCAN_LOW, P.SCAN_HIGH)
    scan: Reals = kept[0].astype(np.float64)
    return scan


def _switches(lines: Lines, scan: Reals, t: int) -> None:
    V = lines.V
    backlog, bad = lines.short(L.H_BACKLOG, P.SWITCHES), lines.short(L.H_BAD, P.SWITCHES)
    srtt, rttvar = lines.line_real(L.F_SRTT, P.SWITCHES), lines.line_real(L.F_RTTVAR, P.SWITCHES)
    more = np.where(scan > 1, (P.LOAD_MESSAGES * (scan - 1)).astype(np.int64), 0)
    for w in range(P.SWITCHES):
        words = numbers.words(lines.keys, P.Stream.SWITCH, np.full(lines.n, w), t)
        chance = numbers.unit(words[1])
        bad[w] = np.where(bad[w] == 1, chance >= V[L.V_TO_GOOD], chance < V[L.V_TO_BAD])
        waiting = backlog[w] + numbers.poisson(words[0], lines.arrivals) + more - P.MESSAGES
        backlog[w] = np.clip(waiting, 0, P.BACKLOG_LIMIT)
        good = np.flatnonzero(bad[w] == 0)
        sample = V[L.V_RTT, good] + backlog[w, good] * (P.TICK_MS / P.MESSAGES)
        smooth, spread = srtt[w, good].astype(np.float64), rttvar[w, good].astype(np.float64)
        rttvar[w, good] = spread + P.RTTVAR_GAIN * (np.abs(smooth - sample) - spread)
        srtt[w, good] = smooth + P.SRTT_GAIN * (sample - smooth)


def _stations(lines: Lines, line_scan: Reals, t: int) -> Counts:
    """Advance the stations; return the scrap of each line."""
    h, env = lines.h, lines.env
    scan = line_scan[env] * lines.plc
    spiking = lines.short(L.H_SPIKE, 1)[0] > 0
    if spiking.any():
        mask = np.where(spiking, lines.whole(L.I_SPIKE_MASK), 0)
        hit = np.flatnonzero((mask[env] >> lines.station) & 1)
        scan[hit] += lines.law[L.V_SPIKE, hit]
    np.clip(scan, P.SCAN_LOW, P.SCAN_HIGH, out=scan)
    trip = h[L.H_TRIP]
    h[L.H_TRIP] = np.where(trip > 0, trip - 1, np.where(scan > P.TRIP_SCAN, P.TRIP_TICKS, 0))
    due = np.flatnonzero((h[L.H_THROTTLE_DUE] >= 0) & (h[L.H_THROTTLE_DUE] <= t))
    h[L.H_THROTTLED, due], h[L.H_THROTTLE_DUE, due] = h[L.H_THROTTLE_TO, due], -1
    down = flow.is_down(lines, t)
    scrap = flow.flow(lines, ~down, scan, t)
    running = (~down & (h[L.H_STOPPED] == 0) & (h[L.H_WORK] == 1)).astype(np.float64)
    h[L.H_STILL] = np.where(down, np.minimum(h[L.H_STILL] + 1, flow.MOST_STILL), 0)
    effort = running * scan
    effort[h[L.H_THROTTLED] == 1] *= P.THROTTLED_SPEED
    flow.wear(lines, effort, t)
    sensing.physics(lines, running, effort, scan)
    sensing.sense(lines, scan, t)
    sensing.send(lines, scan, t)
    sensing.deliver(lines, t)
    sensing.alarm(lines, t)
    return scrap


def _crew(lines: Lines, reward: Reals, t: int) -> None:
    states, timers = lines.short(L.H_TECH_STATE, P.TECHNICIANS), lines.short(L.H_TECH_TIMER, P.TECHNICIANS)
    for k in range(P.TECHNICIANS):
        state = states[k].copy()
        reward[(state == P.Crew.TO_REPAIR) | (state == P.Crew.TO_INSPECT)] -= P.REWARD_TRAVEL
        timers[k] -= state != P.Crew.IDLE
        there = np.flatnonzero((state != P.Crew.IDLE) & (timers[k] <= 0))
        for now, act in _ARRIVALS.items():
            e = there[state[there] == now]
            if len(e):
                s = lines.short(L.H_TECH_TO, P.TECHNICIANS)[k, e]
                cell = lines.offset[s] + e
                stamped = act(lines, k, e, cell)
                if stamped is not None:
                    lines.h[stamped, cell] = t


def _set(lines: Lines, k: int, e: Index, cell: Index, state: int, timer: Reals | int) -> None:
    lines.short(L.H_TECH_AT, P.TECHNICIANS)[k, e] = lines.station[cell]
    lines.short(L.H_TECH_STATE, P.TECHNICIANS)[k, e] = state
    lines.short(L.H_TECH_TIMER, P.TECHNICIANS)[k, e] = timer


def _release(lines: Lines, k: int, e: Index) -> None:
    lines.short(L.H_TECH_STATE, P.TECHNICIANS)[k, e] = P.Crew.IDLE
    lines.short(L.H_TECH_TO, P.TECHNICIANS)[k, e] = -1


def _begin_repair(lines: Lines, k: int, e: Index, cell: Index) -> int:
    timer = REPAIR_TICKS[lines.h[L.H_CLAIM, cell]] + P.SKILL_TICKS * (k % 3)
    _set(lines, k, e, cell, P.Crew.REPAIR, timer)
    lines.h[L.H_ORDER, cell] = P.Order.REPAIR
    return L.H_ARRIVED


def _begin_inspection(lines: Lines, k: int, e: Index, cell: Index) -> None:
    _set(lines, k, e, cell, P.Crew.INSPECT, P.INSPECTION_TICKS)


def _end_repair(lines: Lines, k: int, e: Index, cell: Index) -> None:
    h, f = lines.h, lines.f
    mended = cell[h[L.H_FAULT, cell] == h[L.H_CLAIM, cell] + 1]
    h[L.H_MENDED, mended] = h[L.H_FAULT_AT, mended]
    h[L.H_FAULT, mended], h[L.H_FIXED, mended] = P.Fault.NONE, 1
    f[L.F_SEVERITY, mended], f[L.F_BIAS, mended], f[L.F_CYCLE, mended] = 0, 0, 1
    h[L.H_RENEWALS, mended] += 1
    lines.plan(mended, np.zeros(len(mended), np.bool_))
    h[L.H_ORDER, cell], h[L.H_TECH, cell] = P.Order.DONE, -1
    _release(lines, k, e)


def _end_inspection(lines: Lines, k: int, e: Index, cell: Index) -> int:
    channel = lines.short(L.H_TECH_CHANNEL, P.TECHNICIANS)[k, e]
    q = lines.quantity[channel, cell]
    usual = NOMINAL[q] + np.where(q == P.Quantity.TEMPERATURE, lines.base[cell], 0.0)
    x = lines.f[lines.source[channel, cell], cell].astype(np.float64)
    lines.f[L.F_CLEAN + channel, cell] = (x - usual) / SCALE[q]
    _release(lines, k, e)
    return L.H_INSPECTED


_ARRIVALS: dict[int, Callable[[Lines, int, Index, Index], int | None]] = {
    P.Crew.TO_REPAIR: _begin_repair,
    P.Crew.REPAIR: _end_repair,
    P.Crew.TO_INSPECT: _begin_inspection,
    P.Crew.INSPECT: _end_inspection,
}
"""What a technician whose time is up does; returns the field that gets the tick, if any."""


def _parts(lines: Lines, t: int) -> None:
    stock, coming, comes = (lines.short(field, P.PARTS) for field in (L.H_STOCK, L.H_COMING, L.H_COMES))
    here = (comes >= 0) & (comes <= t)
    stock[here] = np.minimum(stock[here] + coming[here], 100)
    coming[here], comes[here] = 0, -1


def _settle(lines: Lines, scrap: Counts, reward: Reals, t: int) -> None:
    buffer = lines.short(L.H_BUFFER, P.BUFFERS)
    out = buffer[P.SINK].copy()
    buffer[P.SINK] = 0
    faulty = np.bincount(lines.env[lines.h[L.H_FAULT] != P.Fault.NONE], minlength=lines.n)
    output, scrapped = lines.whole(L.I_OUTPUT), lines.whole(L.I_SCRAP)
    output += out
    scrapped += scrap.astype(np.int32)
    reward += P.REWARD_OUTPUT * out / lines.whole_shift
    reward -= P.REWARD_SCRAP * scrap / lines.whole_shift
    reward -= P.REWARD_FAULT * faulty
    lines.whole(L.I_TICK)[:] = t + 1
    if t + 1 == lines.horizon:
        lines.whole(L.I_OVER)[:] = 1
        closed = lines.whole(L.I_CLOSED_DUE) == lines.whole(L.I_FAULTS_DUE)
        lines.whole(L.I_SUCCESS)[:] = closed & (output >= lines.V[L.V_TARGET])
