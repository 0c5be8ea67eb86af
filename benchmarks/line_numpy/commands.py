"""Commands of all lines at once, verb by verb."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linegym import layout as L
from linegym import plant as P

from .state import Index, Lines, Mask, Reals


@dataclass(slots=True)
class Asked:
    """The lines that ask for the same verb, with a place in the line."""

    lines: Lines
    e: Index
    s: NDArray[np.int64]
    argument: NDArray[np.int64]
    t: int
    reward: Reals
    facts: NDArray[np.int32]  # (FACTS, n)

    @property
    def cell(self) -> Index:
        cell: Index = self.lines.offset[self.s] + self.e
        return cell

    def only(self, which: Mask) -> Asked:
        """Return those for which the command is possible."""
        return Asked(self.lines, self.e[which], self.s[which], self.argument[which], self.t, self.reward, self.facts)


def delay(lines: Lines, e: Index, cell: Index) -> NDArray[np.int64]:
    backlog = lines.short(L.H_BACKLOG, P.SWITCHES)[lines.switch[cell], e].astype(np.int64)
    late: NDArray[np.int64] = (backlog * P.TICK_MS // P.MESSAGES + lines.i[L.I_RTO, cell]) // P.TICK_MS
    return np.minimum(10, late)


def travel(lines: Lines, e: Index, start: NDArray[np.integer], s: NDArray[np.integer]) -> NDArray[np.int32]:
    ticks: NDArray[np.int32] = lines.T[L.T_TRAVEL + start.astype(np.int64) * P.STATIONS + s, e]
    return ticks


def may_diagnose(h: NDArray[np.int16], t: int) -> Mask:
    """``h``: (H_STRIDE, any number of cells)."""
    seen = (h[L.H_INSPECTED] >= 0) & (t - h[L.H_INSPECTED] <= P.INSPECTED_FOR)
    allowed: Mask = (h[L.H_ORDER] == P.Order.NONE) & ((h[L.H_ALARM] == 1) | seen)
    allowed |= (h[L.H_ORDER] == P.Order.OPEN) | (h[L.H_ORDER] == P.Order.DONE)
    return allowed


def _send(asked: Asked, k: NDArray[np.int64], state: int) -> None:
    """Send technician ``k`` of each line to its station."""
    lines, e = asked.lines, asked.e
    start = lines.short(L.H_TECH_AT, P.TECHNICIANS)[k, e]
    lines.short(L.H_TECH_TIMER, P.TECHNICIANS)[k, e] = (
        travel(lines, e, start, asked.s) + 1 + delay(lines, e, asked.cell)
    )
    lines.short(L.H_TECH_STATE, P.TECHNICIANS)[k, e] = state
    lines.short(L.H_TECH_TO, P.TECHNICIANS)[k, e] = asked.s


def _silence(h: NDArray[np.int16], cell: Index) -> None:
    for field in (L.H_ALARM, L.H_EXCEED, L.H_FLAT):
        h[field, cell] = 0


def inspect(asked: Asked) -> Mask:
    lines, e = asked.lines, asked.e
    at, state = lines.short(L.H_TECH_AT, P.TECHNICIANS)[:, e], lines.short(L.H_TECH_STATE, P.TECHNICIANS)[:, e]
    ways = np.where(state == P.Crew.IDLE, travel(lines, e, at, asked.s), 1 << 30)
    nearest = ways.argmin(axis=0)
    possible: Mask = (asked.argument >= 0) & (asked.argument < P.CHANNELS) & (ways.min(axis=0) < 1 << 30)
    asked, k = asked.only(possible), nearest[possible]
    _send(asked, k, P.Crew.TO_INSPECT)
    lines.short(L.H_TECH_CHANNEL, P.TECHNICIANS)[k, asked.e] = asked.argument
    asked.reward[asked.e] -= P.REWARD_INSPECT
    return possible


def diagnose(asked: Asked) -> Mask:
    lines, t = asked.lines, asked.t
    h = lines.h
    possible: Mask = may_diagnose(h[:, asked.cell], t) & (asked.argument >= 0) & (asked.argument < P.CLAIMS)
    asked = asked.only(possible)
    h[L.H_FIXED, asked.cell] = 0
    claims = asked.argument < P.CLAIM_DISTURBANCE
    claimed, dismissed = asked.only(claims), asked.only(~claims)
    cell = claimed.cell
    h[L.H_OPENED, cell[h[L.H_ORDER, cell] == P.Order.NONE]] = t
    h[L.H_ORDER, cell], h[L.H_CLAIM, cell] = P.Order.OPEN, claimed.argument
    cell = dismissed.cell
    wrong = dismissed.e[h[L.H_FAULT, cell] != P.Fault.NONE]
    lines.whole(L.I_WRONG)[wrong] += 1
    asked.reward[wrong] -= P.REWARD_FALSE
    h[L.H_ORDER, cell], h[L.H_CLAIM, cell], h[L.H_MUTED, cell] = P.Order.NONE, -1, t + P.MUTE_TICKS
    _silence(h, cell)
    return possible


def order(asked: Asked) -> Mask:
    lines = asked.lines
    comes, coming = lines.short(L.H_COMES, P.PARTS), lines.short(L.H_COMING, P.PARTS)
    known = (asked.s == 0) & (asked.argument >= 0) & (asked.argument < 2 * P.PARTS)
    possible: Mask = known & (comes[np.where(known, asked.argument >> 1, 0), asked.e] == -1)
    asked = asked.only(possible)
    part, quantity = asked.argument >> 1, np.array(P.ORDER_SIZES)[asked.argument & 1]
    coming[part, asked.e] = quantity
    comes[part, asked.e] = asked.t + lines.T[L.T_LEAD + part, asked.e]
    asked.reward[asked.e] -= P.REWARD_PART * quantity
    return possible


def dispatch(asked: Asked) -> Mask:
    lines = asked.lines
    h, stock = lines.h, lines.short(L.H_STOCK, P.PARTS)
    known = (asked.argument >= 0) & (asked.argument < P.TECHNICIANS)
    idle = lines.short(L.H_TECH_STATE, P.TECHNICIANS)[np.where(known, asked.argument, 0), asked.e] == P.Crew.IDLE
    claim = h[L.H_CLAIM, asked.cell]
    possible: Mask = (
        known & idle & (h[L.H_ORDER, asked.cell] == P.Order.OPEN) & (stock[np.maximum(claim, 0), asked.e] > 0)
    )
    asked = asked.only(possible)
    stock[claim[possible], asked.e] -= 1
    _send(asked, asked.argument, P.Crew.TO_REPAIR)
    cell = asked.cell
    h[L.H_ORDER, cell], h[L.H_TECH, cell], h[L.H_SENT, cell] = P.Order.TRAVEL, asked.argument, asked.t
    return possible


def close(asked: Asked) -> Mask:
    h = asked.lines.h
    state = h[L.H_ORDER, asked.cell]
    possible: Mask = (asked.argument == 0) & ((state == P.Order.DONE) | (state == P.Order.OPEN))
    _close_done(asked.only(possible & (state == P.Order.DONE)))
    cell = asked.only(possible).cell
    h[L.H_ORDER, cell], h[L.H_CLAIM, cell] = P.Order.NONE, -1
    return possible


def _close_done(asked: Asked) -> None:
    lines, t, cell = asked.lines, asked.t, asked.cell
    h = lines.h
    right = h[L.H_FIXED, cell] == 1
    opened, sent, arrived, appeared = (h[f, cell] for f in (L.H_OPENED, L.H_SENT, L.H_ARRIVED, L.H_MENDED))
    asked.facts[L.FACT_CLOSED_STATION :, asked.e] = (
        asked.s, right, np.where(right, opened - appeared, 0), sent - opened, arrived - sent, t - arrived,
    )  # fmt: skip
    late = right & (t - appeared > P.DEADLINE)
    lines.whole(L.I_CLOSED)[asked.e] += right
    lines.whole(L.I_CLOSED_DUE)[asked.e] += right & ~late & (appeared < P.DUE_SHARE * lines.horizon)
    lines.whole(L.I_LATE)[asked.e] += late
    lines.whole(L.I_WRONG)[asked.e] += ~right
    asked.reward[asked.e] -= np.where(late, P.REWARD_LATE, np.where(right, 0.0, P.REWARD_FALSE))
    h[L.H_MUTED, cell[right]] = t + P.MUTE_TICKS
    h[L.H_FIXED, cell] = 0
    _silence(h, cell)


def throttle(asked: Asked) -> Mask:
    h, cell = asked.lines.h, asked.cell
    known = (asked.argument == 0) | (asked.argument == 1)
    possible: Mask = known & (h[L.H_THROTTLE_DUE, cell] == -1) & (h[L.H_THROTTLED, cell] != asked.argument)
    asked = asked.only(possible)
    h[L.H_THROTTLE_TO, asked.cell] = asked.argument
    h[L.H_THROTTLE_DUE, asked.cell] = asked.t + delay(asked.lines, asked.e, asked.cell)
    return possible


_VERBS = {
    P.Verb.INSPECT: inspect,
    P.Verb.DIAGNOSE: diagnose,
    P.Verb.ORDER: order,
    P.Verb.DISPATCH: dispatch,
    P.Verb.CLOSE: close,
    P.Verb.THROTTLE: throttle,
}


def command(lines: Lines, wanted: NDArray[np.int64], t: int, reward: Reals, facts: NDArray[np.int32]) -> None:
    """Do one command of each line. ``wanted``: (3, n)."""
    verb, s, argument = wanted
    possible = verb == P.Verb.NOOP
    placed = (s >= 0) & (s < lines.stations)
    for number, act in _VERBS.items():
        e = np.flatnonzero((verb == number) & placed)
        if len(e):
            possible[e] = act(Asked(lines, e, s[e], argument[e], t, reward, facts))
    impossible = np.flatnonzero(~possible)
    lines.whole(L.I_INVALID)[impossible] = 1
    reward[impossible] -= P.REWARD_INVALID
