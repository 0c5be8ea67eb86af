"""Physics, sensors, link, delivery and alarm of all stations at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linegym import layout as L
from linegym import plant as P

from . import numbers
from .state import LAG, Index, Lines, Reals

TEMPERATURE, VIBRATION = np.array(P.FAULT_TEMPERATURE), np.array(P.FAULT_VIBRATION)
CURRENT, PRESSURE = np.array(P.FAULT_CURRENT), np.array(P.FAULT_PRESSURE)
DERATE = np.array(P.FAULT_DERATE)
MOST = 1000


def _approach(lines: Lines, field: int, quantity: int, target: Reals, cells: Index | slice = slice(None)) -> None:
    x = lines.real(field, cells)
    lines.f[field, cells] = x + LAG[quantity] * (target - x)


def physics(lines: Lines, running: Reals, effort: Reals, scan: Reals) -> None:
    c, sev = lines.h[L.H_FAULT], lines.real(L.F_SEVERITY)
    heat = lines.base + P.HEAT * effort + TEMPERATURE[c] * sev
    shake = P.VIBRATION_IDLE + P.VIBRATION_EFFORT * effort + VIBRATION[c] * sev * (0.25 + 0.75 * running)
    current = P.CURRENT_IDLE + P.CURRENT_EFFORT * effort + CURRENT[c] * sev
    _approach(lines, L.F_TEMPERATURE, P.Quantity.TEMPERATURE, heat)
    _approach(lines, L.F_VIBRATION, P.Quantity.VIBRATION, shake)
    _approach(lines, L.F_CURRENT, P.Quantity.CURRENT, current)
    p, v = lines.pressure, lines.speed
    pressure = P.PRESSURE_IDLE - P.PRESSURE_EFFORT * effort[p] - PRESSURE[c[p]] * sev[p]
    _approach(lines, L.F_AUX, P.Quantity.PRESSURE, pressure, p)
    speed = 100 * running[v] * (1 - DERATE[c[v]] * sev[v]) / np.maximum(1, scan[v])
    speed[lines.h[L.H_THROTTLED, v] == 1] *= P.THROTTLED_SPEED
    _approach(lines, L.F_AUX, P.Quantity.SPEED, speed, v)


def sense(lines: Lines, scan: Reals, t: int) -> None:
    h, law = lines.h, lines.law
    words = numbers.words(lines.cell_keys, P.Stream.SENSE, lines.station, t)
    luck = numbers.unit(words[3])
    start = h[L.H_PHASE].astype(np.int64) * 256
    phase = start + t * (P.SINE_INCREMENT + h[L.H_JITTER].astype(np.int64) * P.SINE_JITTER)
    noise = law[L.V_NOISE] + law[L.V_RIPPLE] * np.abs(scan - 1)
    normal = numbers.normal(words[:3].ravel()).reshape(3, -1)
    reading = np.empty((P.CHANNELS, lines.cells))
    for k in range(P.CHANNELS):
        gain = 1 + law[L.V_SINE] * numbers.sine(phase + k * P.CHANNEL_SHIFT)
        if k == 0:
            hit = np.flatnonzero(luck < law[L.V_IMPULSE_P])
            minus = (law[L.V_SIGNED, hit] == 1) & (words[3, hit] & np.uint64(1) == 1)
            gain[hit] += np.where(minus, -law[L.V_IMPULSE, hit], law[L.V_IMPULSE, hit])
        x = lines.f[lines.source[k], np.arange(lines.cells)]
        slow = numbers.sine(start + k * P.CHANNEL_SHIFT + t * P.WANDER_INCREMENT)
        reading[k] = x * gain + noise * lines.noise[k] * lines.scale[k] * normal[k]
        reading[k] += law[L.V_WANDER] * lines.scale[k] * slow
    reading[0] += lines.f[L.F_BIAS]
    hold = h[L.H_HOLD]
    begins = (hold == 0) & (luck >= 1 - law[L.V_HOLD_P])
    h[L.H_HOLD] = np.where(begins, P.HOLD_TICKS, np.maximum(hold - 1, 0))
    free = (h[L.H_HOLD] == 0) & (h[L.H_FAULT] != P.Fault.SENSOR_STUCK)
    lines.f[L.F_HELD, free] = reading[0, free]
    lines.f[L.F_HELD + 1 : L.F_HELD + P.CHANNELS] = reading[1:]


def send(lines: Lines, scan: Reals, t: int) -> None:
    h, i, slot = lines.h, lines.i, t % P.PACKETS
    h[L.H_DUE + slot] = -1
    cells = np.flatnonzero(h[L.H_FAULT] != P.Fault.PLC_COMM)
    env, switch = lines.env[cells], lines.switch[cells]
    words = numbers.words(lines.cell_keys[cells], P.Stream.LINK, lines.station[cells], t)
    bad = lines.short(L.H_BAD, P.SWITCHES)[switch, env] == 1
    loss = np.where(bad, lines.law[L.V_LOSS_BAD, cells], lines.law[L.V_LOSS_GOOD, cells])
    lost = np.flatnonzero(numbers.unit(words[0]) < loss)
    rto = np.zeros(len(cells), np.int32)
    before, where = i[L.I_RTO, cells[lost]], (switch[lost], env[lost])
    srtt, rttvar = (lines.line_real(field, P.SWITCHES)[where].astype(float) for field in (L.F_SRTT, L.F_RTTVAR))
    first = np.maximum(P.RTO_FLOOR_MS, srtt + 4.0 * rttvar).astype(np.int32)
    rto[lost] = np.where(before > 0, np.minimum(2 * before, P.RTO_CAP_MS), first)
    i[L.I_RTO, cells] = rto
    cycles = numbers.poisson(words[1], lines.latency, cells)
    queue = lines.short(L.H_BACKLOG, P.SWITCHES)[switch, env].astype(np.int32) * P.TICK_MS // P.MESSAGES
    late = (cycles * P.CYCLE_MS + queue + rto) // P.TICK_MS
    sent = late < P.PACKETS
    cells = cells[sent]
    h[L.H_DUE + slot, cells] = t + late[sent]
    packet = L.F_PACKET + slot * (P.CHANNELS + 1)
    lines.f[packet : packet + P.CHANNELS, cells] = lines.f[L.F_HELD : L.F_HELD + P.CHANNELS, cells]
    lines.f[packet + P.CHANNELS, cells] = scan[cells]


def deliver(lines: Lines, t: int) -> None:
    """Take over the newest packet that has arrived, if it is newer than the last."""
    h = lines.h
    newest = np.full(lines.cells, -1, np.int16)
    for sent in range(max(0, t - P.PACKETS + 1), t + 1):
        due = h[L.H_DUE + sent % P.PACKETS]
        newest[(due >= 0) & (due <= t) & (h[L.H_LAST] < sent)] = sent
    cells = np.flatnonzero(newest >= 0)
    _take(lines, cells, newest[cells])


def _take(lines: Lines, cells: Index, sent: NDArray[np.int16]) -> None:
    h, f, three = lines.h, lines.f, np.arange(P.CHANNELS)[:, None]
    packet = L.F_PACKET + sent.astype(np.int64) % P.PACKETS * (P.CHANNELS + 1)
    missed = np.minimum(sent - h[L.H_LAST, cells] - 1, P.GAP_LIMIT)
    f[L.F_GAP, cells] = P.GAP_DECAY * lines.real(L.F_GAP, cells) + missed
    read = f[packet + three, cells]
    flat = read[0] == f[L.F_SEEN, cells]
    x = read.astype(np.float64)
    mean, variance = f[L.F_MEAN + three, cells].astype(float), f[L.F_VARIANCE + three, cells].astype(float)
    d = x - mean
    f[L.F_MEAN + three, cells] = mean + P.SMOOTHING * d
    f[L.F_VARIANCE + three, cells] = (1 - P.SMOOTHING) * (variance + P.SMOOTHING * d * d)
    f[L.F_SEEN + three, cells] = read
    f[L.F_SEEN + P.CHANNELS, cells] = f[packet + P.CHANNELS, cells]
    exceeds = (np.abs((x - lines.usual[:, cells]) / lines.scale[:, cells]) > P.ALARM_LEVEL).any(axis=0)
    h[L.H_FLAT, cells] = np.where(flat, np.minimum(h[L.H_FLAT, cells] + 1, MOST), 0)
    h[L.H_EXCEED, cells] = np.where(exceeds, np.minimum(h[L.H_EXCEED, cells] + 1, MOST), 0)
    h[L.H_LAST, cells] = sent


def alarm(lines: Lines, t: int) -> None:
    h = lines.h
    may = (h[L.H_ALARM] == 0) & (h[L.H_ORDER] == P.Order.NONE) & (t >= h[L.H_MUTED])
    wrong = (h[L.H_EXCEED] >= P.ALARM_SAMPLES) | (h[L.H_FLAT] >= P.ALARM_FLAT) | (h[L.H_STILL] >= P.ALARM_DOWN)
    wrong |= (t - h[L.H_LAST] > P.ALARM_AGE) | (lines.real(L.F_CYCLE) > P.ALARM_CYCLE)
    cells = np.flatnonzero(may & wrong)
    h[L.H_ALARM, cells], h[L.H_ALARM_AT, cells] = 1, t
