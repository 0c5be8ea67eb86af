"""Parts through one station, its wear and its faults (``docs/reference/plant.md``, Each station)."""

from __future__ import annotations

import numpy as np

from linegym import layout as L
from linegym import plant as P
from linegym import rng
from linegym.kernel import constants as C
from linegym.kernel.compiled import compiled
from linegym.kernel.rows import FloatRow, IntRow, RealRow, ShortRow, WordsRow


@compiled
def is_down(H: ShortRow, F: FloatRow, s: int, t: int) -> bool:
    """Return whether station ``s`` cannot work now."""
    h = s * L.H_STRIDE
    fault = int(H[h + L.H_FAULT])
    if fault == P.Fault.JAM or fault == P.Fault.PLC_COMM:
        return True
    if fault == P.Fault.OVERHEAT and np.float64(F[s * L.F_STRIDE + L.F_TEMPERATURE]) > P.HOT:
        return True
    if H[h + L.H_ALARM] == 1 and H[h + L.H_ORDER] == P.Order.NONE and t - int(H[h + L.H_ALARM_AT]) > P.ALARM_STOPS:
        return True
    return H[h + L.H_ORDER] == P.Order.REPAIR or H[h + L.H_TRIP] > P.TRIP_DOWN


@compiled
def finish(
    H: ShortRow, I: IntRow, F: FloatRow, T: IntRow, G: RealRow, s: int, t: int, u: float, fault: int, severity: float
) -> None:
    """End the work on a part and decide what becomes of it."""
    h, f = s * L.H_STRIDE, s * L.F_STRIDE + L.F_CYCLE
    cycle = np.float64(F[f])
    took = ((t - int(H[h + L.H_LOADED])) * 1024.0) / int(T[s * L.T_STRIDE + L.T_CYCLE])
    F[f] = cycle + P.CYCLE_GAIN * (took - cycle)
    q = G[L.G_SCRAP] + C.SCRAP[fault] * severity
    if u < q:
        I[L.I_SCRAP] += 1
        H[h + L.H_WORK] = 0
        return
    H[h + L.H_WORK] = 2
    second = T[s * L.T_STRIDE + L.T_OUT2] >= 0 and u < q + G[L.G_SPLIT]
    H[h + L.H_DEST] = 2 if second else 1


@compiled
def unload(H: ShortRow, I: IntRow, T: IntRow, s: int) -> None:
    """Pass a finished part on if there is room."""
    h = s * L.H_STRIDE
    second = H[h + L.H_DEST] == 2
    b = int(T[s * L.T_STRIDE + (L.T_OUT2 if second else L.T_OUT1)])
    if b == P.SINK or int(H[L.H_BUFFER + b]) < int(T[L.T_CAPACITY + b]):
        H[L.H_BUFFER + b] += 1
        H[h + L.H_DONE] += 1
        H[h + L.H_WORK] = 0
    elif second and T[L.T_REWORK] == 1:
        I[L.I_SCRAP] += 1
        H[h + L.H_WORK] = 0


@compiled
def has_part(H: ShortRow, b: int) -> bool:
    """Return whether an input gives a part; no input at all never holds a station up."""
    return b == P.NONE or b == P.SOURCE or H[L.H_BUFFER + b] > 0


@compiled
def start(H: ShortRow, T: IntRow, G: RealRow, s: int, t: int, w0: int, w2: int) -> None:
    """Load a part if there is one."""
    in1, in2 = int(T[s * L.T_STRIDE + L.T_IN1]), int(T[s * L.T_STRIDE + L.T_IN2])
    if not (has_part(H, in1) and has_part(H, in2)):
        return
    if in1 > 0:
        H[L.H_BUFFER + in1] -= 1
    if in2 > 0:
        H[L.H_BUFFER + in2] -= 1
    h = s * L.H_STRIDE
    H[h + L.H_WORK] = 1
    spread = 1.0 + G[L.G_SPREAD] * (2.0 * rng.unit(w0) - 1.0)
    H[h + L.H_TIMER] = int(float(T[s * L.T_STRIDE + L.T_CYCLE]) * spread)
    H[h + L.H_LOADED] = t
    if rng.unit(w2) < G[L.G_MINOR]:
        H[h + L.H_STOPPED] = 1


@compiled
def flow(
    H: ShortRow, I: IntRow, F: FloatRow, T: IntRow, G: RealRow, words: WordsRow, s: int, t: int, scan: float
) -> None:
    """Work one tick at a station that is not down."""
    h = s * L.H_STRIDE
    w0, w1, w2 = words[0, s], words[1, s], words[2, s]
    if H[h + L.H_STOPPED] == 1:
        if rng.unit(w2) < G[L.G_CLEAR]:
            H[h + L.H_STOPPED] = 0
    elif H[h + L.H_WORK] == 1:
        fault, severity = int(H[h + L.H_FAULT]), np.float64(F[s * L.F_STRIDE + L.F_SEVERITY])
        speed = (1.0 - C.DERATE[fault] * severity) / max(1.0, scan)
        if H[h + L.H_THROTTLED] == 1:
            speed = speed * P.THROTTLED_SPEED
        timer = int(H[h + L.H_TIMER]) - int(1024.0 * speed)
        H[h + L.H_TIMER] = timer
        if timer <= 0:
            finish(H, I, F, T, G, s, t, rng.unit(w1), fault, severity)
    if H[h + L.H_STOPPED] == 1:
        return
    if H[h + L.H_WORK] == 2:
        unload(H, I, T, s)
    if H[h + L.H_WORK] == 0:
        start(H, T, G, s, t, w0, w2)


@compiled
def plan(
    H: ShortRow, I: IntRow, T: IntRow, G: RealRow, key: np.uint64, s: int, renewal: int, certain: bool, horizon: int
) -> None:
    """Decide when and how station ``s`` fails next."""
    w0, w1, w2, w3 = rng.words(key, P.Stream.FAULT, s, renewal)
    h = s * L.H_STRIDE
    H[h + L.H_SIGN] = 1 if w3 & 1 == 1 else -1
    dominant = int(T[L.T_DOMINANT])
    fault = dominant
    if not (certain or rng.unit(w2) < P.DOMINANT):
        fault = 1 + ((w2 & 0xFFFF) * P.FAULTS >> 16)
        if (int(T[L.T_ALLOWED]) >> fault) & 1 == 0:
            fault = dominant
    H[h + L.H_NEXT] = fault
    share = P.CERTAIN_SHARE if certain else P.PLANNED_SHARE
    onset = P.NEVER
    if G[L.G_FAULT] >= 0.0 and (certain or rng.unit(w0) < G[L.G_FAULT]):
        ticks = P.FIRST_ONSET + int(rng.unit(w1) * max(0.0, share * horizon - P.FIRST_ONSET))
        onset = int(I[s * L.I_STRIDE + L.I_EXPOSURE]) + P.EXPOSURE_TICK * ticks
    I[s * L.I_STRIDE + L.I_ONSET] = onset


@compiled
def wear(H: ShortRow, I: IntRow, F: FloatRow, T: IntRow, s: int, t: int, effort: float, horizon: int) -> None:
    """Bring the next fault nearer, let it appear, let a present one grow."""
    h, i, f = s * L.H_STRIDE, s * L.I_STRIDE, s * L.F_STRIDE
    exposure = int(I[i + L.I_EXPOSURE]) + P.EXPOSURE_REST + int(P.EXPOSURE_EFFORT * effort)
    I[i + L.I_EXPOSURE] = exposure
    fault = int(H[h + L.H_FAULT])
    if fault == P.Fault.NONE:
        if exposure >= int(I[i + L.I_ONSET]):
            fault = int(H[h + L.H_NEXT])
            H[h + L.H_FAULT] = fault
            H[h + L.H_FAULT_AT] = t
            F[f + L.F_SEVERITY] = C.ONSET[fault]
            F[f + L.F_BIAS] = 0.0
            I[L.I_FAULTS] += 1
            if t < P.DUE_SHARE * horizon:
                I[L.I_FAULTS_DUE] += 1
        return
    severity = np.float64(F[f + L.F_SEVERITY])
    F[f + L.F_SEVERITY] = severity + P.SEVERITY_RATE * (1.0 - severity)
    if fault == P.Fault.SENSOR_DRIFT:
        scale = C.SCALE[int(T[L.T_QUANTITY])]
        bias = np.float64(F[f + L.F_BIAS]) + int(H[h + L.H_SIGN]) * P.DRIFT_RATE * scale
        most = P.DRIFT_LIMIT * scale
        F[f + L.F_BIAS] = max(-most, min(most, bias))
