"""Policies that reach every corner of the reference line; good only for tests, since they look behind the scenes."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from linegym.plant import ACTIONS, CLAIMS, ORDER_SIZES, Fault, Order, Verb
from linegym.reference import ReferenceLine
from linegym.reference.mask import COMMANDS, Command
from linegym.reference.station import Station

Policy = Callable[[ReferenceLine, Random], Command]
NOOP: Command = (0, 0, 0)


def masked(line: ReferenceLine, chance: Random) -> Command:
    """Return a possible command; each kind as often as the others, however few commands are of it."""
    mask = line.mask()
    possible = [COMMANDS[action] for action in range(ACTIONS) if mask[action]]
    verb = chance.choice(sorted({command[0] for command in possible}))
    return chance.choice([command for command in possible if command[0] == verb])


def anything(line: ReferenceLine, chance: Random) -> Command:
    """Return three numbers, most of which mean something."""
    if chance.random() < 0.1:
        extreme = chance.choice([-(2**31), -1, 24, 2**31 - 1])
        return chance.choice([(extreme, 0, 0), (chance.randrange(7), extreme, 0), (chance.randrange(7), 0, extreme)])
    return chance.randint(-1, 7), chance.randint(-1, len(line.stations)), chance.randint(-1, 16)


def keeper(line: ReferenceLine, chance: Random) -> Command:
    """Return what serves a work order best, now and then a mistake: the only one of these that gets orders closed."""
    for station in chance.sample(line.stations, len(line.stations)):
        command = _serve(line, station, chance)
        if command != NOOP:
            return command
    station = chance.choice(line.stations)
    if chance.random() < 0.05:
        return Verb.THROTTLE, station.number, int(not station.controller.throttled)
    return NOOP


def _serve(line: ReferenceLine, station: Station, chance: Random) -> Command:
    order = station.order
    if order.state == Order.DONE:
        return (Verb.CLOSE, station.number, 0) if chance.random() < 0.9 else NOOP
    if order.state == Order.OPEN:
        return _send(line, station, chance)
    if order.state != Order.NONE:
        return NOOP
    fault = station.wear.fault
    if station.monitor.alarm or station.inspection.is_recent(line.t):
        right = fault != Fault.NONE and chance.random() < 0.8
        return Verb.DIAGNOSE, station.number, fault - 1 if right else chance.randrange(CLAIMS)
    return (Verb.INSPECT, station.number, chance.randrange(3)) if fault and chance.random() < 0.1 else NOOP


def _send(line: ReferenceLine, station: Station, chance: Random) -> Command:
    shelf = line.store.shelves[station.order.claim]
    idle = [technician.number for technician in line.crew if technician.is_idle]
    if shelf.stock and idle:
        return Verb.DISPATCH, station.number, chance.choice(idle)
    if not shelf.awaits:
        return Verb.ORDER, 0, station.order.claim * len(ORDER_SIZES) + chance.randrange(len(ORDER_SIZES))
    return NOOP


def mixed(line: ReferenceLine, chance: Random) -> Command:
    """Return what one of the others would."""
    return chance.choice([masked, anything, keeper, keeper])(line, chance)


POLICIES: tuple[Policy, ...] = (masked, anything, keeper, mixed)
