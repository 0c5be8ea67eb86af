"""From the station to the agent: sending, delivery, alarm (``docs/reference/plant.md``, Link, Delivery, Alarm)."""

from __future__ import annotations

import numpy as np

from linegym import layout as L
from linegym import plant as P
from linegym import rng
from linegym.kernel import constants as C
from linegym.kernel.compiled import compiled
from linegym.kernel.rows import FloatRow, IntRow, RealRow, ShortRow, WordsRow
from linegym.kernel.sensing import usual

WIDTH = P.CHANNELS + 1
"""Numbers in a packet: the readings and the scan time."""


@compiled
def transmit(
    H: ShortRow, I: IntRow, F: FloatRow, V: RealRow, words: WordsRow, s: int, t: int, slot: int, scan: float
) -> None:
    """Put this tick's readings on the network."""
    h, rto_at = s * L.H_STRIDE, s * L.I_STRIDE + L.I_RTO
    if H[h + L.H_FAULT] == P.Fault.PLC_COMM:
        H[h + L.H_DUE + slot] = -1
        return
    w0, w1 = words[0, s], words[1, s]
    w = s // P.STATIONS_A_SWITCH
    loss = V[L.V_LOSS_BAD] if H[L.H_BAD + w] == 1 else V[L.V_LOSS_GOOD]
    rto = int(I[rto_at])
    if rng.unit(w0) >= loss:
        rto = 0
    elif rto > 0:
        rto = min(2 * rto, P.RTO_CAP_MS)
    else:
        rto = int(max(P.RTO_FLOOR_MS, np.float64(F[L.F_SRTT + w]) + 4.0 * np.float64(F[L.F_RTTVAR + w])))
    I[rto_at] = rto
    cycles = rng.poisson(w1, V[L.V_LATENCY], V[L.V_EXP_LATENCY], 12)
    late = (cycles * P.CYCLE_MS + int(H[L.H_BACKLOG + w]) * P.TICK_MS // P.MESSAGES + rto) // P.TICK_MS
    if late >= P.PACKETS:
        H[h + L.H_DUE + slot] = -1
        return
    H[h + L.H_DUE + slot] = t + late
    f = s * L.F_STRIDE
    packet = f + L.F_PACKET + slot * WIDTH
    for k in range(P.CHANNELS):
        F[packet + k] = F[f + L.F_HELD + k]
    F[packet + P.CHANNELS] = scan


@compiled
def take(H: ShortRow, F: FloatRow, T: IntRow, G: RealRow, s: int, at: int, packet: int) -> None:
    """Take over the packet that was sent at tick ``at``."""
    h, f = s * L.H_STRIDE, s * L.F_STRIDE
    missed = min(at - int(H[h + L.H_LAST]) - 1, P.GAP_LIMIT)
    F[f + L.F_GAP] = P.GAP_DECAY * np.float64(F[f + L.F_GAP]) + missed
    flat = F[packet] == F[f + L.F_SEEN]
    exceeds = False
    for k in range(P.CHANNELS):
        x = np.float64(F[packet + k])
        mean, variance = np.float64(F[f + L.F_MEAN + k]), np.float64(F[f + L.F_VARIANCE + k])
        d = x - mean
        F[f + L.F_MEAN + k] = mean + P.SMOOTHING * d
        F[f + L.F_VARIANCE + k] = (1.0 - P.SMOOTHING) * (variance + P.SMOOTHING * d * d)
        F[f + L.F_SEEN + k] = x
        q = int(T[L.T_QUANTITY + k])
        if abs((x - usual(G, s, q)) / C.SCALE[q]) > P.ALARM_LEVEL:
            exceeds = True
    F[f + L.F_SEEN + P.CHANNELS] = F[packet + P.CHANNELS]
    H[h + L.H_FLAT] = min(int(H[h + L.H_FLAT]) + 1, 1000) if flat else 0
    H[h + L.H_EXCEED] = min(int(H[h + L.H_EXCEED]) + 1, 1000) if exceeds else 0
    H[h + L.H_LAST] = at


@compiled
def deliver(H: ShortRow, F: FloatRow, T: IntRow, G: RealRow, s: int, t: int, slot: int) -> None:
    """Take over the newest packet that has arrived, if it is newer than the last."""
    h = s * L.H_STRIDE
    last = int(H[h + L.H_LAST])
    for d in range(P.PACKETS):
        at = t - d
        if at <= last or at < 0:
            return
        q = slot - d
        if q < 0:
            q += P.PACKETS
        due = int(H[h + L.H_DUE + q])
        if 0 <= due <= t:
            take(H, F, T, G, s, at, s * L.F_STRIDE + L.F_PACKET + q * WIDTH)
            return


@compiled
def alarm(H: ShortRow, F: FloatRow, s: int, t: int) -> None:
    """Latch the health alarm of station ``s`` when something looks wrong."""
    h = s * L.H_STRIDE
    if H[h + L.H_ALARM] == 1 or H[h + L.H_ORDER] != P.Order.NONE or t < H[h + L.H_MUTED]:
        return
    if (
        H[h + L.H_EXCEED] >= P.ALARM_SAMPLES
        or H[h + L.H_FLAT] >= P.ALARM_FLAT
        or t - int(H[h + L.H_LAST]) > P.ALARM_AGE
        or np.float64(F[s * L.F_STRIDE + L.F_CYCLE]) > P.ALARM_CYCLE
        or H[h + L.H_STILL] >= P.ALARM_DOWN
    ):
        H[h + L.H_ALARM] = 1
        H[h + L.H_ALARM_AT] = t
