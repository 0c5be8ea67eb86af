"""Commands: what the agent can ask for, when that is possible, and what it does.

A command is ``(verb, station, argument)``. Everything here is a pair of functions a verb: may it, and do it. The
mask is the first of them, asked for every command there is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from linegym.plant import (
    CHANNELS,
    CLAIM_DISTURBANCE,
    CLAIMS,
    DEADLINE,
    ORDER_SIZES,
    PARTS,
    REWARD_FALSE,
    REWARD_INSPECT,
    REWARD_INVALID,
    REWARD_LATE,
    REWARD_PART,
    TECHNICIANS,
    Fault,
    Order,
    Verb,
)
from linegym.reference.ledger import Closing
from linegym.reference.station import Station

if TYPE_CHECKING:
    from linegym.reference.line import ReferenceLine

May = Callable[["ReferenceLine", Station, int], bool]
Do = Callable[["ReferenceLine", Station, int], None]


def is_possible(line: ReferenceLine, verb: int, station: int, argument: int) -> bool:
    """Say whether a command is possible now; doing nothing always is, whatever the other two numbers are."""
    if verb == Verb.NOOP:
        return True
    if verb not in _VERBS or not 0 <= station < len(line.stations):
        return False
    arguments, may, _ = _VERBS[verb]
    return 0 <= argument < arguments and may(line, line.stations[station], argument)


def carry_out(line: ReferenceLine, verb: int, station: int, argument: int) -> None:
    """Do what a command says; one that is not possible costs a little and changes nothing."""
    if not is_possible(line, verb, station, argument):
        line.ledger.invalid = True
        line.ledger.charge(REWARD_INVALID)
    elif verb != Verb.NOOP:
        _VERBS[verb][2](line, line.stations[station], argument)


def _may_inspect(line: ReferenceLine, _station: Station, _channel: int) -> bool:
    return any(technician.is_idle for technician in line.crew)


def _inspect(line: ReferenceLine, station: Station, channel: int) -> None:
    """Send the nearest idle technician; ``min`` keeps the first among equals."""
    idle = [technician for technician in line.crew if technician.is_idle]
    nearest = min(idle, key=lambda technician: technician.way_to(station.number))
    nearest.send_to_inspect(station, channel)
    line.ledger.charge(REWARD_INSPECT)


def _may_diagnose(line: ReferenceLine, station: Station, _claim: int) -> bool:
    if station.order.state in (Order.OPEN, Order.DONE):
        return True
    reason = station.monitor.alarm or station.inspection.is_recent(line.t)
    return station.order.state == Order.NONE and reason


def _diagnose(line: ReferenceLine, station: Station, claim: int) -> None:
    """Open an order, claim something else, take up again what a repair has not mended, or dismiss it all."""
    if claim < CLAIM_DISTURBANCE:
        station.order.open(line.t, claim)
        return
    if station.wear.fault != Fault.NONE:
        line.ledger.wrong += 1
        line.ledger.charge(REWARD_FALSE)
    station.order.end()
    station.monitor.clear()
    station.monitor.mute(line.t)


def _may_order(line: ReferenceLine, station: Station, lot: int) -> bool:
    return station.number == 0 and not line.store.shelves[lot // len(ORDER_SIZES)].awaits


def _order(line: ReferenceLine, _station: Station, lot: int) -> None:
    part, size = divmod(lot, len(ORDER_SIZES))
    line.ledger.charge(REWARD_PART * line.store.shelves[part].order(line.t, size))


def _may_dispatch(line: ReferenceLine, station: Station, technician: int) -> bool:
    order = station.order
    return order.state == Order.OPEN and line.crew[technician].is_idle and line.store.shelves[order.claim].stock > 0


def _dispatch(line: ReferenceLine, station: Station, technician: int) -> None:
    line.store.shelves[station.order.claim].stock -= 1
    line.crew[technician].send_to_repair(station)
    station.order.send(line.t, technician)


def _may_close(_line: ReferenceLine, station: Station, _argument: int) -> bool:
    return station.order.state in (Order.OPEN, Order.DONE)


def _close(line: ReferenceLine, station: Station, _argument: int) -> None:
    """Withdraw an order on which nobody was sent, or settle one after the repair."""
    order = station.order
    if order.state == Order.DONE:
        _settle(line, station)
        station.monitor.clear()
        if order.fixed:
            station.monitor.mute(line.t)
    order.end()


def _settle(line: ReferenceLine, station: Station) -> None:
    ledger, order, mended_at = line.ledger, station.order, station.wear.mended_at
    ledger.closing = Closing(
        station.number,
        right=order.fixed,
        identify=order.opened - mended_at if order.fixed else 0,
        assess=order.sent - order.opened,
        dispatch=order.arrived - order.sent,
        execute=line.t - order.arrived,
    )
    if not order.fixed:
        ledger.wrong += 1
        ledger.charge(REWARD_FALSE)
        return
    ledger.closed += 1
    if line.t - mended_at > DEADLINE:
        ledger.late += 1
        ledger.charge(REWARD_LATE)
    else:
        ledger.closed_due += line.setting.is_due(mended_at)


def _may_throttle(_line: ReferenceLine, station: Station, throttle: int) -> bool:
    return not station.controller.awaits_command and station.controller.throttled != bool(throttle)


def _throttle(line: ReferenceLine, station: Station, throttle: int) -> None:
    station.controller.command(bool(throttle), arrives=line.t + station.link.command_delay)


_VERBS: dict[int, tuple[int, May, Do]] = {
    Verb.INSPECT: (CHANNELS, _may_inspect, _inspect),
    Verb.DIAGNOSE: (CLAIMS, _may_diagnose, _diagnose),
    Verb.ORDER: (PARTS * len(ORDER_SIZES), _may_order, _order),
    Verb.DISPATCH: (TECHNICIANS, _may_dispatch, _dispatch),
    Verb.CLOSE: (1, _may_close, _close),
    Verb.THROTTLE: (2, _may_throttle, _throttle),
}
"""Of each verb: how many arguments it takes, whether it may, and what it does."""
