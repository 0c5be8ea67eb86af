"""Technicians and spare parts (``docs/reference/plant.md``, Crew and Parts)."""

from __future__ import annotations

import numpy as np

from linegym import layout as L
from linegym import plant as P
from linegym.kernel import constants as C
from linegym.kernel.compiled import apart, compiled
from linegym.kernel.flow import plan
from linegym.kernel.rows import FloatRow, IntRow, RealRow, ShortRow
from linegym.kernel.sensing import true_value, usual


@compiled
def release(H: ShortRow, k: int) -> None:
    """Make technician ``k`` free again where he is."""
    H[L.H_TECH_STATE + k] = P.Crew.IDLE
    H[L.H_TECH_TO + k] = -1


@compiled
def mend(
    H: ShortRow, I: IntRow, F: FloatRow, T: IntRow, G: RealRow, key: np.uint64, s: int, k: int, horizon: int
) -> None:
    """End a repair: it helped when the claim was right."""
    h, f = s * L.H_STRIDE, s * L.F_STRIDE
    if H[h + L.H_FAULT] == H[h + L.H_CLAIM] + 1:
        H[h + L.H_MENDED] = H[h + L.H_FAULT_AT]
        H[h + L.H_FAULT] = P.Fault.NONE
        F[f + L.F_SEVERITY] = 0.0
        F[f + L.F_BIAS] = 0.0
        F[f + L.F_CYCLE] = 1.0
        H[h + L.H_FIXED] = 1
        H[h + L.H_RENEWALS] += 1
        plan(H, I, T, G, key, s, int(H[h + L.H_RENEWALS]), False, horizon)
    H[h + L.H_ORDER] = P.Order.DONE
    H[h + L.H_TECH] = -1
    release(H, k)


@apart
def arrive(
    H: ShortRow, I: IntRow, F: FloatRow, T: IntRow, G: RealRow, key: np.uint64, k: int, t: int, horizon: int
) -> None:
    """Do what technician ``k`` does when his time is up."""
    state, s = int(H[L.H_TECH_STATE + k]), int(H[L.H_TECH_TO + k])
    h = s * L.H_STRIDE
    if state == P.Crew.TO_REPAIR:
        H[L.H_TECH_AT + k] = s
        H[L.H_TECH_STATE + k] = P.Crew.REPAIR
        H[L.H_TECH_TIMER + k] = C.REPAIR_TICKS[int(H[h + L.H_CLAIM])] + P.SKILL_TICKS * (k % 3)
        H[h + L.H_ORDER] = P.Order.REPAIR
        H[h + L.H_ARRIVED] = t
    elif state == P.Crew.REPAIR:
        mend(H, I, F, T, G, key, s, k, horizon)
    elif state == P.Crew.TO_INSPECT:
        H[L.H_TECH_AT + k] = s
        H[L.H_TECH_STATE + k] = P.Crew.INSPECT
        H[L.H_TECH_TIMER + k] = P.INSPECTION_TICKS
    else:
        channel = int(H[L.H_TECH_CHANNEL + k])
        q = int(T[L.T_QUANTITY + channel])
        F[s * L.F_STRIDE + L.F_CLEAN + channel] = (true_value(F, s, q) - usual(G, s, q)) / C.SCALE[q]
        H[h + L.H_INSPECTED] = t
        release(H, k)


@compiled
def crew(
    H: ShortRow,
    I: IntRow,
    F: FloatRow,
    T: IntRow,
    G: RealRow,
    key: np.uint64,
    t: int,
    horizon: int,
    reward: float,
) -> float:
    """Advance the technicians; return the reward less what their ways cost."""
    for k in range(P.TECHNICIANS):
        state = int(H[L.H_TECH_STATE + k])
        if state == P.Crew.IDLE:
            continue
        if state == P.Crew.TO_REPAIR or state == P.Crew.TO_INSPECT:
            reward = reward - P.REWARD_TRAVEL
        H[L.H_TECH_TIMER + k] -= 1
        if H[L.H_TECH_TIMER + k] <= 0:
            arrive(H, I, F, T, G, key, k, t, horizon)
    return reward


@compiled
def parts(H: ShortRow, t: int) -> None:
    """Take in the spare parts that have come."""
    for p in range(P.PARTS):
        comes = int(H[L.H_COMES + p])
        if 0 <= comes <= t:
            H[L.H_STOCK + p] = min(int(H[L.H_STOCK + p]) + int(H[L.H_COMING + p]), 100)
            H[L.H_COMING + p] = 0
            H[L.H_COMES + p] = -1
