"""Commands: what an agent can ask for, and whether it is possible now (``docs/reference/plant.md``, Commands)."""

from __future__ import annotations

from linegym import layout as L
from linegym import plant as P
from linegym.kernel.compiled import apart, compiled
from linegym.kernel.rows import IntRow, ShortRow


@compiled
def delay(H: ShortRow, I: IntRow, s: int) -> int:
    """Return the ticks that a command to station ``s`` takes on the network now."""
    backlog = int(H[L.H_BACKLOG + s // P.STATIONS_A_SWITCH])
    late = (backlog * P.TICK_MS // P.MESSAGES + int(I[s * L.I_STRIDE + L.I_RTO])) // P.TICK_MS
    return min(late, 10)


@compiled
def nearest(H: ShortRow, T: IntRow, s: int) -> int:
    """Return the idle technician with the shortest way to station ``s``, -1 when none is idle."""
    best, ticks = -1, 1 << 30
    for k in range(P.TECHNICIANS):
        if H[L.H_TECH_STATE + k] == P.Crew.IDLE:
            way = int(T[L.T_TRAVEL + int(H[L.H_TECH_AT + k]) * P.STATIONS + s])
            if way < ticks:
                best, ticks = k, way
    return best


@compiled
def may_diagnose(H: ShortRow, s: int, t: int) -> bool:
    """Return whether a work order can be opened, or its claim changed, at station ``s``."""
    h = s * L.H_STRIDE
    state = int(H[h + L.H_ORDER])
    if state != P.Order.NONE:
        return state == P.Order.OPEN or state == P.Order.DONE
    inspected = int(H[h + L.H_INSPECTED])
    return H[h + L.H_ALARM] == 1 or (inspected >= 0 and t - inspected <= P.INSPECTED_FOR)


@compiled
def send(H: ShortRow, I: IntRow, T: IntRow, k: int, s: int, state: int) -> None:
    """Send technician ``k`` to station ``s``."""
    H[L.H_TECH_STATE + k] = state
    H[L.H_TECH_TO + k] = s
    way = int(T[L.T_TRAVEL + int(H[L.H_TECH_AT + k]) * P.STATIONS + s])
    H[L.H_TECH_TIMER + k] = way + 1 + delay(H, I, s)


@compiled
def silence(H: ShortRow, h: int) -> None:
    """Reset the alarm of the station whose record begins at ``h``."""
    H[h + L.H_ALARM] = 0
    H[h + L.H_EXCEED] = 0
    H[h + L.H_FLAT] = 0


@compiled
def inspect(H: ShortRow, I: IntRow, T: IntRow, s: int, channel: int, reward: float) -> tuple[bool, float]:
    """Send the nearest idle technician to measure a channel by hand."""
    k = nearest(H, T, s)
    if channel >= P.CHANNELS or k < 0:
        return False, reward
    send(H, I, T, k, s, P.Crew.TO_INSPECT)
    H[L.H_TECH_CHANNEL + k] = channel
    return True, reward - P.REWARD_INSPECT


@compiled
def diagnose(H: ShortRow, I: IntRow, s: int, claim: int, t: int, reward: float) -> tuple[bool, float]:
    """Claim a fault class for a station, or dismiss its alarm."""
    if claim >= P.CLAIMS or not may_diagnose(H, s, t):
        return False, reward
    h = s * L.H_STRIDE
    H[h + L.H_FIXED] = 0
    if claim < P.CLAIM_DISTURBANCE:
        if H[h + L.H_ORDER] == P.Order.NONE:
            H[h + L.H_OPENED] = t
        H[h + L.H_ORDER] = P.Order.OPEN
        H[h + L.H_CLAIM] = claim
        return True, reward
    if H[h + L.H_FAULT] != P.Fault.NONE:
        I[L.I_WRONG] += 1
        reward = reward - P.REWARD_FALSE
    H[h + L.H_ORDER] = P.Order.NONE
    H[h + L.H_CLAIM] = -1
    silence(H, h)
    H[h + L.H_MUTED] = t + P.MUTE_TICKS
    return True, reward


@compiled
def order(H: ShortRow, T: IntRow, s: int, argument: int, t: int, reward: float) -> tuple[bool, float]:
    """Order spare parts."""
    part = argument >> 1
    if s != 0 or H[L.H_COMES + part] >= 0:
        return False, reward
    quantity = P.ORDER_SIZES[argument & 1]
    H[L.H_COMING + part] = quantity
    H[L.H_COMES + part] = t + int(T[L.T_LEAD + part])
    return True, reward - P.REWARD_PART * quantity


@compiled
def may_dispatch(H: ShortRow, s: int, k: int) -> bool:
    """Return whether technician ``k`` can be sent to mend station ``s``."""
    h = s * L.H_STRIDE
    if H[h + L.H_ORDER] != P.Order.OPEN or H[L.H_TECH_STATE + k] != P.Crew.IDLE:
        return False
    return H[L.H_STOCK + int(H[h + L.H_CLAIM])] > 0


@compiled
def dispatch(H: ShortRow, I: IntRow, T: IntRow, s: int, k: int, t: int) -> bool:
    """Send a technician with the part that the claim needs."""
    if k >= P.TECHNICIANS or not may_dispatch(H, s, k):
        return False
    h = s * L.H_STRIDE
    H[L.H_STOCK + int(H[h + L.H_CLAIM])] -= 1
    send(H, I, T, k, s, P.Crew.TO_REPAIR)
    H[h + L.H_ORDER] = P.Order.TRAVEL
    H[h + L.H_TECH] = k
    H[h + L.H_SENT] = t
    return True


@compiled
def tell_closed(H: ShortRow, facts: IntRow, s: int, t: int) -> None:
    """Write what the order closed at station ``s`` took into the facts of this step."""
    h = s * L.H_STRIDE
    right = int(H[h + L.H_FIXED])
    facts[L.FACT_CLOSED_STATION] = s
    facts[L.FACT_CLOSED_STATION + 1] = right
    opened, sent, arrived = int(H[h + L.H_OPENED]), int(H[h + L.H_SENT]), int(H[h + L.H_ARRIVED])
    facts[L.FACT_CLOSED_STATION + 2] = opened - int(H[h + L.H_MENDED]) if right == 1 else 0
    facts[L.FACT_CLOSED_STATION + 3] = sent - opened
    facts[L.FACT_CLOSED_STATION + 4] = arrived - sent
    facts[L.FACT_CLOSED_STATION + 5] = t - arrived


@compiled
def close(
    H: ShortRow, I: IntRow, facts: IntRow, s: int, argument: int, t: int, horizon: int, reward: float
) -> tuple[bool, float]:
    """Close a work order, or withdraw one for which nobody was sent."""
    h = s * L.H_STRIDE
    state = int(H[h + L.H_ORDER])
    if argument != 0 or (state != P.Order.DONE and state != P.Order.OPEN):
        return False, reward
    if state == P.Order.DONE:
        tell_closed(H, facts, s, t)
        silence(H, h)
        if H[h + L.H_FIXED] == 1:
            appeared = int(H[h + L.H_MENDED])
            I[L.I_CLOSED] += 1
            if t - appeared > P.DEADLINE:
                I[L.I_LATE] += 1
                reward = reward - P.REWARD_LATE
            elif appeared < P.DUE_SHARE * horizon:
                I[L.I_CLOSED_DUE] += 1
            H[h + L.H_MUTED] = t + P.MUTE_TICKS
        else:
            I[L.I_WRONG] += 1
            reward = reward - P.REWARD_FALSE
        H[h + L.H_FIXED] = 0
    H[h + L.H_ORDER] = P.Order.NONE
    H[h + L.H_CLAIM] = -1
    return True, reward


@compiled
def throttle(H: ShortRow, I: IntRow, s: int, argument: int, t: int) -> bool:
    """Slow a station down or let it run again, when the command arrives."""
    h = s * L.H_STRIDE
    if argument > 1 or H[h + L.H_THROTTLE_DUE] >= 0 or H[h + L.H_THROTTLED] == argument:
        return False
    H[h + L.H_THROTTLE_TO] = argument
    H[h + L.H_THROTTLE_DUE] = t + delay(H, I, s)
    return True


@apart
def command(
    H: ShortRow, I: IntRow, T: IntRow, facts: IntRow, verb: int, s: int, a: int, t: int, horizon: int, reward: float
) -> float:
    """Do one command, or flag it; return the reward with what it cost."""
    if verb == P.Verb.NOOP:
        return reward
    done = False
    if 0 <= s < int(T[L.T_STATIONS]) and 0 <= a < P.ARGUMENTS:
        if verb == P.Verb.INSPECT:
            done, reward = inspect(H, I, T, s, a, reward)
        elif verb == P.Verb.DIAGNOSE:
            done, reward = diagnose(H, I, s, a, t, reward)
        elif verb == P.Verb.ORDER:
            done, reward = order(H, T, s, a, t, reward)
        elif verb == P.Verb.DISPATCH:
            done = dispatch(H, I, T, s, a, t)
        elif verb == P.Verb.CLOSE:
            done, reward = close(H, I, facts, s, a, t, horizon, reward)
        elif verb == P.Verb.THROTTLE:
            done = throttle(H, I, s, a, t)
    if not done:
        I[L.I_INVALID] = 1
        reward = reward - P.REWARD_INVALID
    return reward
