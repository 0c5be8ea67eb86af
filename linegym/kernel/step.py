"""One tick of one line, and the start of an episode (``docs/reference/plant.md``)."""

from __future__ import annotations

import numpy as np

from linegym import layout as L
from linegym import plant as P
from linegym import rng
from linegym.kernel import commands, crew, flow, line, network, sensing
from linegym.kernel.compiled import apart, compiled
from linegym.kernel.rows import FloatRow, IntRow, RealRow, Scratch, ShortRow


@compiled
def begin_station(H: ShortRow, F: FloatRow, T: IntRow, G: RealRow, V: RealRow, key: np.uint64, s: int) -> None:
    """Set station ``s`` to the start of an episode."""
    h, f = s * L.H_STRIDE, s * L.F_STRIDE
    for field in (L.H_CLAIM, L.H_TECH, L.H_LAST, L.H_THROTTLE_DUE, L.H_INSPECTED):
        H[h + field] = -1
    H[h + L.H_DEST] = 1
    for slot in range(P.PACKETS):
        H[h + L.H_DUE + slot] = -1
    if V[L.V_SIGNED] == 1.0:
        w0, w1, _, _ = rng.words(key, P.Stream.PHASE, s, 0)
        H[h + L.H_PHASE] = (w0 * P.SINE_ENTRIES) >> 32
        H[h + L.H_JITTER] = ((w1 * 129) >> 32) - 64
    F[f + L.F_TEMPERATURE] = G[s * L.G_STRIDE + L.G_BASE]
    F[f + L.F_VIBRATION] = P.VIBRATION_IDLE
    F[f + L.F_CURRENT] = P.CURRENT_IDLE
    if T[L.T_QUANTITY] == P.Quantity.PRESSURE:
        F[f + L.F_AUX] = P.PRESSURE_IDLE
    F[f + L.F_CYCLE] = 1.0
    for k in range(P.CHANNELS):
        value = sensing.usual(G, s, int(T[L.T_QUANTITY + k]))
        F[f + L.F_HELD + k] = value
        F[f + L.F_SEEN + k] = value
        F[f + L.F_MEAN + k] = value
    F[f + L.F_SEEN + P.CHANNELS] = 1.0


@apart
def begin(
    H: ShortRow,
    I: IntRow,
    F: FloatRow,
    T: IntRow,
    G: RealRow,
    V: RealRow,
    key: np.uint64,
    episode: int,
    horizon: int,
) -> None:
    """Set a whole line to the start of an episode."""
    H[:] = 0
    I[:] = 0
    F[:] = 0
    stations = int(T[L.T_STATIONS])
    w0, _, _, _ = rng.words(key, P.Stream.PLAN, 0, 0)
    certain = (w0 * stations) >> 32
    for s in range(stations):
        begin_station(H, F, T, G, V, key, s)
        flow.plan(H, I, T, G, key, s, 0, s == certain, horizon)
    H[L.H_BUFFER + P.SOURCE] = 1
    for k in range(P.TECHNICIANS):
        H[L.H_TECH_AT + k] = (k * stations) // P.TECHNICIANS
        H[L.H_TECH_TO + k] = -1
    for p in range(P.PARTS):
        H[L.H_STOCK + p] = T[L.T_STOCK + p]
        H[L.H_COMES + p] = -1
    F[L.F_SCAN] = 1.0
    for w in range(P.SWITCHES):
        F[L.F_SRTT + w] = V[L.V_RTT]
        F[L.F_RTTVAR + w] = V[L.V_RTT] * 0.5
    I[L.I_EPISODE] = episode


@compiled
def station_tick(
    H: ShortRow,
    I: IntRow,
    F: FloatRow,
    T: IntRow,
    G: RealRow,
    V: RealRow,
    words: Scratch,
    s: int,
    t: int,
    slot: int,
    line_scan: float,
    horizon: int,
    normal: RealRow,
    sine: RealRow,
) -> None:
    """Advance one station by a tick."""
    h = s * L.H_STRIDE
    scan = line_scan * G[s * L.G_STRIDE + L.G_PLC]
    if H[L.H_SPIKE] > 0 and (int(I[L.I_SPIKE_MASK]) >> s) & 1 == 1:
        scan = scan + V[L.V_SPIKE]
    scan = line.limit_scan(scan)
    if H[h + L.H_TRIP] > 0:
        H[h + L.H_TRIP] -= 1
    elif scan > P.TRIP_SCAN:
        H[h + L.H_TRIP] = P.TRIP_TICKS
    if 0 <= H[h + L.H_THROTTLE_DUE] <= t:
        H[h + L.H_THROTTLED] = H[h + L.H_THROTTLE_TO]
        H[h + L.H_THROTTLE_DUE] = -1
    running = 0.0
    if flow.is_down(H, F, s, t):
        H[h + L.H_STILL] = min(int(H[h + L.H_STILL]) + 1, 1000)
    else:
        H[h + L.H_STILL] = 0
        flow.flow(H, I, F, T, G, words[0], s, t, scan)
        if H[h + L.H_STOPPED] == 0 and H[h + L.H_WORK] == 1:
            running = 1.0
    effort = running * scan
    if H[h + L.H_THROTTLED] == 1:
        effort = effort * P.THROTTLED_SPEED
    flow.wear(H, I, F, T, s, t, effort, horizon)
    sensing.physics(H, F, T, G, s, running, effort, scan)
    sensing.sense(H, F, T, G, V, words[1], s, t, scan, normal, sine)
    network.transmit(H, I, F, V, words[2], s, t, slot, scan)
    network.deliver(H, F, T, G, s, t, slot)
    network.alarm(H, F, s, t)


@compiled
def settle(H: ShortRow, I: IntRow, T: IntRow, G: RealRow, V: RealRow, scrap: int, horizon: int, reward: float) -> float:
    """Count output and faults, move the clock, judge the episode at its end; return the reward of the tick."""
    out = int(H[L.H_BUFFER + P.SINK])
    H[L.H_BUFFER + P.SINK] = 0
    I[L.I_OUTPUT] += out
    faulty = 0
    for s in range(int(T[L.T_STATIONS])):
        faulty += H[s * L.H_STRIDE + L.H_FAULT] != 0
    nominal = G[L.G_NOMINAL] * horizon
    reward = reward + P.REWARD_OUTPUT * out / nominal
    reward = reward - P.REWARD_SCRAP * scrap / nominal
    reward = reward - P.REWARD_FAULT * faulty
    I[L.I_TICK] += 1
    if I[L.I_TICK] >= horizon:
        I[L.I_OVER] = 1
        if I[L.I_CLOSED_DUE] == I[L.I_FAULTS_DUE] and I[L.I_OUTPUT] >= V[L.V_TARGET]:
            I[L.I_SUCCESS] = 1
    return reward


@apart
def tick(
    H: ShortRow,
    I: IntRow,
    F: FloatRow,
    T: IntRow,
    G: RealRow,
    V: RealRow,
    key: np.uint64,
    asked: IntRow,
    wanted: int,
    facts: IntRow,
    horizon: int,
    normal: RealRow,
    sine: RealRow,
    words: Scratch,
) -> float:
    """Advance one line by a tick; return the reward. ``asked``: (commands, 3), of which the first ``wanted`` count."""
    t, scrap, reward = int(I[L.I_TICK]), int(I[L.I_SCRAP]), 0.0
    for c in range(wanted):
        verb, s, a = int(asked[c, 0]), int(asked[c, 1]), int(asked[c, 2])
        reward = commands.command(H, I, T, facts, verb, s, a, t, horizon, reward)
    scan = line.load(H, I, F, V, key, t, normal, sine)
    line.switches(H, F, V, key, t, scan)
    slot, stations = t % P.PACKETS, int(T[L.T_STATIONS])
    rng.fill(key, P.Stream.FLOW, stations, t, words[0])
    rng.fill(key, P.Stream.SENSE, stations, t, words[1])
    rng.fill(key, P.Stream.LINK, stations, t, words[2])
    for s in range(stations):
        station_tick(H, I, F, T, G, V, words, s, t, slot, scan, horizon, normal, sine)
    reward = crew.crew(H, I, F, T, G, key, t, horizon, reward)
    crew.parts(H, t)
    return settle(H, I, T, G, V, int(I[L.I_SCRAP]) - scrap, horizon, reward)
