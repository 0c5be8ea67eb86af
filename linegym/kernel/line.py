"""What all stations share: the load, and the network's switches (``docs/reference/plant.md``, Load and Switches)."""

from __future__ import annotations

import numpy as np

from linegym import layout as L
from linegym import plant as P
from linegym import rng
from linegym.kernel.compiled import compiled
from linegym.kernel.rows import FloatRow, IntRow, RealRow, ShortRow


@compiled
def limit_scan(scan: float) -> float:
    """Return the scan time within what a PLC can do."""
    if scan < P.SCAN_LOW:
        return P.SCAN_LOW
    return min(scan, P.SCAN_HIGH)


@compiled
def load(
    H: ShortRow, I: IntRow, F: FloatRow, V: RealRow, key: np.uint64, t: int, normal: RealRow, sine: RealRow
) -> float:
    """Advance the line's load; return its scan time against nominal."""
    w0, w1, w2, w3 = rng.words(key, P.Stream.LOAD, 0, t)
    ar1 = np.float64(F[L.F_AR1])
    ar = P.AR_1 * ar1 + P.AR_2 * np.float64(F[L.F_AR2]) + V[L.V_AR] * rng.normal(w0, normal)
    F[L.F_AR2] = F[L.F_AR1]
    F[L.F_AR1] = ar
    if H[L.H_SPIKE] > 0:
        H[L.H_SPIKE] -= 1
    elif rng.unit(w1) < V[L.V_SPIKE_P]:
        H[L.H_SPIKE] = P.SPIKE_SHORTEST + (w2 >> 28)
        I[L.I_SPIKE_MASK] = w3 & 0xFFFFFF
    scan = 1.0 + ar + V[L.V_PERIODIC] * rng.sine(t * P.PERIODIC_INCREMENT, sine)
    F[L.F_SCAN] = limit_scan(scan)
    return np.float64(F[L.F_SCAN])


@compiled
def switches(H: ShortRow, F: FloatRow, V: RealRow, key: np.uint64, t: int, scan: float) -> None:
    """Advance the four switches: good or bad, messages waiting, estimate of the round trip."""
    for w in range(P.SWITCHES):
        w0, w1, _, _ = rng.words(key, P.Stream.SWITCH, w, t)
        if H[L.H_BAD + w] == 0:
            if rng.unit(w1) < V[L.V_TO_BAD]:
                H[L.H_BAD + w] = 1
        elif rng.unit(w1) < V[L.V_TO_GOOD]:
            H[L.H_BAD + w] = 0
        arrivals = rng.poisson(w0, V[L.V_ARRIVALS], V[L.V_EXP_ARRIVALS], 32)
        if scan > 1.0:
            arrivals += int(P.LOAD_MESSAGES * (scan - 1.0))
        backlog = max(0, min(P.BACKLOG_LIMIT, int(H[L.H_BACKLOG + w]) + arrivals - P.MESSAGES))
        H[L.H_BACKLOG + w] = backlog
        if H[L.H_BAD + w] == 0:
            sample = V[L.V_RTT] + backlog * (P.TICK_MS / P.MESSAGES)
            srtt, rttvar = np.float64(F[L.F_SRTT + w]), np.float64(F[L.F_RTTVAR + w])
            F[L.F_RTTVAR + w] = rttvar + P.RTTVAR_GAIN * (abs(srtt - sample) - rttvar)
            F[L.F_SRTT + w] = srtt + P.SRTT_GAIN * (sample - srtt)
