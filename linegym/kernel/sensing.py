"""What happens inside a station, and what its sensors make of it (``docs/reference/plant.md``, Physics, Sensors)."""

from __future__ import annotations

import numpy as np

from linegym import layout as L
from linegym import plant as P
from linegym import rng
from linegym.kernel import constants as C
from linegym.kernel.compiled import compiled
from linegym.kernel.rows import FloatRow, IntRow, RealRow, ShortRow, WordsRow


@compiled
def usual(G: RealRow, s: int, quantity: int) -> float:
    """Return the value of a quantity that counts as normal at station ``s``."""
    if quantity == P.Quantity.TEMPERATURE:
        return C.NOMINAL[quantity] + G[s * L.G_STRIDE + L.G_BASE]
    return C.NOMINAL[quantity]


@compiled
def approach(F: FloatRow, field: int, lag: float, target: float) -> None:
    """Move a true quantity towards its target."""
    x = np.float64(F[field])
    F[field] = x + lag * (target - x)


@compiled
def physics(
    H: ShortRow, F: FloatRow, T: IntRow, G: RealRow, s: int, running: float, effort: float, scan: float
) -> None:
    """Advance the true quantities of station ``s``."""
    f = s * L.F_STRIDE
    fault, severity = int(H[s * L.H_STRIDE + L.H_FAULT]), np.float64(F[f + L.F_SEVERITY])
    base = G[s * L.G_STRIDE + L.G_BASE]
    heat = base + P.HEAT * effort + C.TEMPERATURE[fault] * severity
    approach(F, f + L.F_TEMPERATURE, C.LAG_TEMPERATURE, heat)
    shake = C.VIBRATION[fault] * severity * (0.25 + 0.75 * running)
    approach(F, f + L.F_VIBRATION, C.LAG_VIBRATION, P.VIBRATION_IDLE + P.VIBRATION_EFFORT * effort + shake)
    current = P.CURRENT_IDLE + P.CURRENT_EFFORT * effort + C.CURRENT[fault] * severity
    approach(F, f + L.F_CURRENT, C.LAG_CURRENT, current)
    primary = int(T[L.T_QUANTITY])
    if primary == P.Quantity.PRESSURE:
        pressure = P.PRESSURE_IDLE - P.PRESSURE_EFFORT * effort - C.PRESSURE[fault] * severity
        approach(F, f + L.F_AUX, C.LAG_PRESSURE, pressure)
    elif primary == P.Quantity.SPEED:
        speed = 100.0 * running * (1.0 - C.DERATE[fault] * severity) / max(1.0, scan)
        if H[s * L.H_STRIDE + L.H_THROTTLED] == 1:
            speed = speed * P.THROTTLED_SPEED
        approach(F, f + L.F_AUX, C.LAG_SPEED, speed)


@compiled
def true_value(F: FloatRow, s: int, quantity: int) -> float:
    """Return what a perfect sensor would read."""
    return np.float64(F[s * L.F_STRIDE + L.F_TEMPERATURE + min(quantity, 3)])


@compiled
def shifted(phase: int, k: int, sine: RealRow) -> float:
    """Return the sine of a phase within the turn, shifted by the place of channel ``k``."""
    at = phase + k * P.CHANNEL_SHIFT
    if at >= P.SINE_TURN:
        at -= P.SINE_TURN
    return sine[at >> 8]


@compiled
def read(
    F: FloatRow,
    T: IntRow,
    G: RealRow,
    V: RealRow,
    s: int,
    k: int,
    word: int,
    phase: int,
    wander: int,
    impulse: float,
    noise: float,
    normal: RealRow,
    sine: RealRow,
) -> float:
    """Return what channel ``k`` reads, without the fault of the sensor itself."""
    q = int(T[L.T_QUANTITY + k])
    gain = 1.0 + V[L.V_SINE] * shifted(phase, k, sine)
    if k == 0:
        gain = gain + impulse
    own = G[L.G_NOISE] if k == 0 else P.SECONDARY_NOISE
    reading = true_value(F, s, q) * gain + noise * own * C.SCALE[q] * rng.normal(word, normal)
    return reading + V[L.V_WANDER] * C.SCALE[q] * shifted(wander, k, sine)


@compiled
def sense(
    H: ShortRow,
    F: FloatRow,
    T: IntRow,
    G: RealRow,
    V: RealRow,
    words: WordsRow,
    s: int,
    t: int,
    scan: float,
    normal: RealRow,
    sine: RealRow,
) -> None:
    """Read the three channels of station ``s``."""
    h, f = s * L.H_STRIDE, s * L.F_STRIDE
    w0, w1, w2, w3 = words[0, s], words[1, s], words[2, s], words[3, s]
    start = int(H[h + L.H_PHASE]) * 256
    phase = (start + t * (P.SINE_INCREMENT + int(H[h + L.H_JITTER]) * P.SINE_JITTER)) % P.SINE_TURN
    wander = (start + t * P.WANDER_INCREMENT) % P.SINE_TURN
    noise = V[L.V_NOISE] + V[L.V_RIPPLE] * abs(scan - 1.0)
    impulse = 0.0
    if rng.unit(w3) < V[L.V_IMPULSE_P]:
        impulse = V[L.V_IMPULSE]
        if V[L.V_SIGNED] == 1.0 and w3 & 1 == 1:
            impulse = -impulse
    r0 = read(F, T, G, V, s, 0, w0, phase, wander, impulse, noise, normal, sine) + np.float64(F[f + L.F_BIAS])
    r1 = read(F, T, G, V, s, 1, w1, phase, wander, impulse, noise, normal, sine)
    r2 = read(F, T, G, V, s, 2, w2, phase, wander, impulse, noise, normal, sine)
    if H[h + L.H_HOLD] > 0:
        H[h + L.H_HOLD] -= 1
    elif rng.unit(w3) >= 1.0 - V[L.V_HOLD_P]:
        H[h + L.H_HOLD] = P.HOLD_TICKS
    if H[h + L.H_HOLD] == 0 and H[h + L.H_FAULT] != P.Fault.SENSOR_STUCK:
        F[f + L.F_HELD] = r0
    F[f + L.F_HELD + 1] = r1
    F[f + L.F_HELD + 2] = r2
