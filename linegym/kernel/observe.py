"""What the agent sees after a tick, and what it may do (``docs/reference/plant.md``, The observation)."""

from __future__ import annotations

import numpy as np

from linegym import layout as L
from linegym import plant as P
from linegym.kernel import constants as C
from linegym.kernel.commands import may_diagnose
from linegym.kernel.compiled import apart, compiled
from linegym.kernel.flow import is_down
from linegym.kernel.rows import FloatRow, IntRow, MaskRow, RealRow, ShortRow
from linegym.kernel.sensing import usual


@compiled
def within(x: float, most: float) -> float:
    """Return ``x`` limited to ``-most … most``."""
    return max(-most, min(most, x))


@compiled
def fill(H: ShortRow, T: IntRow, b: int, endless: float) -> float:
    """Return how full buffer ``b`` is; ``endless`` for the source and the sink."""
    if b == P.SOURCE or b == P.SINK:
        return endless
    return int(H[L.H_BUFFER + b]) / int(T[L.T_CAPACITY + b])


@compiled
def panel(H: ShortRow, F: FloatRow, s: int, t: int) -> int:
    """Return what the stack light of station ``s`` shows."""
    if is_down(H, F, s, t):
        return 3
    h = s * L.H_STRIDE
    if H[h + L.H_STOPPED] == 1:
        return 4
    return int(H[h + L.H_WORK])


@compiled
def see_channels(F: FloatRow, T: IntRow, G: RealRow, s: int, out: FloatRow, o: int) -> None:
    """Write values, spreads and clean measurements of station ``s``."""
    f = s * L.F_STRIDE
    for k in range(P.CHANNELS):
        q = int(T[L.T_QUANTITY + k])
        out[o + k] = within((np.float64(F[f + L.F_SEEN + k]) - usual(G, s, q)) / C.SCALE[q], 50.0)
        out[o + 3 + k] = min(50.0, np.sqrt(np.float64(F[f + L.F_VARIANCE + k])) / C.SCALE[q])
        out[o + 20 + k] = within(np.float64(F[f + L.F_CLEAN + k]), 50.0)


@compiled
def see_station(H: ShortRow, F: FloatRow, T: IntRow, G: RealRow, s: int, t: int, out: FloatRow, o: int) -> None:
    """Write the numbers of station ``s``."""
    h, f = s * L.H_STRIDE, s * L.F_STRIDE
    see_channels(F, T, G, s, out, o)
    out[o + 6] = min(t - 1 - int(H[h + L.H_LAST]), 64) / 16.0
    out[o + 7] = min(np.float64(F[f + L.F_GAP]), 64.0) / 8.0
    out[o + 8] = F[f + L.F_SEEN + P.CHANNELS]
    out[o + 9] = min(np.float64(F[f + L.F_CYCLE]), 8.0)
    out[o + 10] = min(int(H[h + L.H_DONE]), 1000) / 100.0
    out[o + 11] = fill(H, T, int(T[s * L.T_STRIDE + L.T_IN1]), 1.0)
    out[o + 12] = fill(H, T, int(T[s * L.T_STRIDE + L.T_OUT1]), 0.0)
    out[o + 13] = panel(H, F, s, t) / 4.0
    state = int(H[h + L.H_ORDER])
    out[o + 14] = state / 4.0
    out[o + 15] = (int(H[h + L.H_CLAIM]) + 1) / 8.0
    out[o + 16] = min(t - int(H[h + L.H_OPENED]), 200) / 100.0 if state != 0 else 0.0
    out[o + 17] = (int(H[h + L.H_TECH]) + 1) / 6.0
    out[o + 18] = H[h + L.H_ALARM]
    out[o + 19] = H[h + L.H_THROTTLED]
    inspected = int(H[h + L.H_INSPECTED])
    out[o + 23] = min(t - inspected, 100) / 100.0 if inspected >= 0 else 1.0


@compiled
def see_crew(H: ShortRow, t: int, out: FloatRow, o: int) -> int:
    """Write technicians and parts; return how many technicians are idle."""
    idle = 0
    for k in range(P.TECHNICIANS):
        state = int(H[L.H_TECH_STATE + k])
        idle += state == 0
        out[o] = state / 4.0
        out[o + 1] = int(H[L.H_TECH_AT + k]) / 24.0
        out[o + 2] = (int(H[L.H_TECH_TO + k]) + 1) / 24.0
        out[o + 3] = min(int(H[L.H_TECH_TIMER + k]), 50) / 50.0
        o += 4
    for p in range(P.PARTS):
        comes = int(H[L.H_COMES + p])
        out[o] = min(int(H[L.H_STOCK + p]), 10) / 10.0
        out[o + 1] = min(int(H[L.H_COMING + p]), 10) / 10.0
        out[o + 2] = min(max(comes - t, 0), 200) / 200.0
        o += 3
    return idle


@apart
def observe(H: ShortRow, I: IntRow, F: FloatRow, T: IntRow, G: RealRow, horizon: int, out: FloatRow) -> None:
    """Write the whole observation; what belongs to unused places is 0 already and stays so."""
    t, stations = int(I[L.I_TICK]), int(T[L.T_STATIONS])
    alarms = orders = 0
    for s in range(stations):
        see_station(H, F, T, G, s, t, out, s * L.SEEN_STRIDE)
        alarms += int(H[s * L.H_STRIDE + L.H_ALARM])
        orders += H[s * L.H_STRIDE + L.H_ORDER] != 0
    idle = see_crew(H, t, out, L.SEEN_CREW)
    o = L.SEEN_LINE
    nominal = G[L.G_NOMINAL] * horizon
    out[o] = t / horizon
    out[o + 1] = min(int(I[L.I_OUTPUT]) / nominal, 4.0)
    out[o + 2] = min(int(I[L.I_SCRAP]) / nominal, 4.0)
    out[o + 3] = alarms / 24.0
    out[o + 4] = idle / 6.0
    out[o + 5] = I[L.I_INVALID]
    out[o + 6] = stations / 24.0
    out[o + 7] = orders / 24.0


@compiled
def mask_station(H: ShortRow, s: int, t: int, free: bool, mask: MaskRow) -> None:
    """Write which commands to station ``s`` are possible now."""
    h = s * L.H_STRIDE
    for k in range(P.CHANNELS):
        mask[P.FIRST_INSPECT + s * P.CHANNELS + k] = free
    may = may_diagnose(H, s, t)
    for claim in range(P.CLAIMS):
        mask[P.FIRST_DIAGNOSE + s * P.CLAIMS + claim] = may
    state = int(H[h + L.H_ORDER])
    ready = state == P.Order.OPEN and H[L.H_STOCK + int(H[h + L.H_CLAIM])] > 0
    for k in range(P.TECHNICIANS):
        mask[P.FIRST_DISPATCH + k * P.STATIONS + s] = ready and H[L.H_TECH_STATE + k] == 0
    mask[P.FIRST_CLOSE + s] = state == P.Order.DONE or state == P.Order.OPEN
    waiting = H[h + L.H_THROTTLE_DUE] >= 0
    mask[P.FIRST_THROTTLE + 2 * s] = not waiting and H[h + L.H_THROTTLED] != 0
    mask[P.FIRST_THROTTLE + 2 * s + 1] = not waiting and H[h + L.H_THROTTLED] != 1


@apart
def possible(H: ShortRow, I: IntRow, T: IntRow, mask: MaskRow) -> None:
    """Write which flat actions are possible now; what belongs to unused places is 0 already and stays so."""
    free = False
    for k in range(P.TECHNICIANS):
        free = free or H[L.H_TECH_STATE + k] == 0
    mask[0] = True
    for s in range(int(T[L.T_STATIONS])):
        mask_station(H, s, int(I[L.I_TICK]), free, mask)
    for p in range(P.PARTS):
        orderable = H[L.H_COMES + p] < 0
        mask[P.FIRST_ORDER + 2 * p] = orderable
        mask[P.FIRST_ORDER + 2 * p + 1] = orderable
