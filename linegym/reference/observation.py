"""What an agent sees after a tick: the table in ``docs/reference/plant.md``, line by line."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from linegym.plant import STATIONS, Order
from linegym.reference.blueprint import Setting
from linegym.reference.crew import Technician
from linegym.reference.station import Station
from linegym.reference.store import Shelf

if TYPE_CHECKING:
    from linegym.reference.line import ReferenceLine

_PLACE = 24
"""Numbers a station."""
_FAR = 50
"""Largest deviation that is shown."""


def seen(line: ReferenceLine) -> NDArray[np.float32]:
    """Return the observation, shape (632,): places, technicians, parts, then the line as a whole."""
    numbers: list[float] = []
    for station in line.stations:
        numbers += _station(station, line.t)
    numbers += [0] * (_PLACE * (STATIONS - len(line.stations)))
    for technician in line.crew:
        numbers += _technician(technician)
    for shelf in line.store.shelves:
        numbers += _shelf(shelf, line.t)
    numbers += _whole(line, line.setting)
    return np.array(numbers, dtype=np.float64).astype(np.float32)


def _far(x: float) -> float:
    return max(-_FAR, min(_FAR, x))


def _station(station: Station, t: int) -> list[float]:
    return [*_packets(station, t), *_panel(station, t), *_order(station, t), *_inspection(station, t)]


def _packets(station: Station, t: int) -> list[float]:
    """Return what the network brought: values, their spread, and how old and patchy they are."""
    monitor = station.monitor
    return [
        *(_far(channel.deviation(monitor.seen[channel.number])) for channel in station.channels),
        *(min(_FAR, sqrt(monitor.variance[channel.number]) / channel.scale) for channel in station.channels),
        min(t - 1 - monitor.last, 64) / 16,
        min(monitor.gap, 64) / 8,
        monitor.scan,
    ]


def _panel(station: Station, t: int) -> list[float]:
    """Return what can be seen at the station itself."""
    machine = station.machine
    return [
        min(machine.cycle, 8),
        min(machine.done, 1000) / 100,
        machine.upstream.fill,
        machine.downstream.fill,
        station.panel(t) / 4,
    ]


def _order(station: Station, t: int) -> list[float]:
    order = station.order
    return [
        order.state / 4,
        (order.claim + 1) / 8,
        min(t - order.opened, 200) / 100 if order.state != Order.NONE else 0,
        (order.technician + 1) / 6,
        station.monitor.alarm,
        station.controller.throttled,
    ]


def _inspection(station: Station, t: int) -> list[float]:
    inspection = station.inspection
    return [
        *(_far(x) for x in inspection.clean),
        min(t - inspection.at, 100) / 100 if inspection.at >= 0 else 1,
    ]


def _technician(technician: Technician) -> list[float]:
    return [technician.state / 4, technician.at / 24, (technician.to + 1) / 24, min(technician.timer, 50) / 50]


def _shelf(shelf: Shelf, t: int) -> list[float]:
    wait = min(max(shelf.comes - t, 0), 200) / 200 if shelf.awaits else 0
    return [min(shelf.stock, 10) / 10, min(shelf.coming, 10) / 10, wait]


def _whole(line: ReferenceLine, setting: Setting) -> list[float]:
    ordinary = setting.blueprint.nominal * setting.horizon
    return [
        line.t / setting.horizon,
        min(line.ledger.output / ordinary, 4),
        min(line.floor.scrap / ordinary, 4),
        sum(station.monitor.alarm for station in line.stations) / 24,
        sum(technician.is_idle for technician in line.crew) / 6,
        line.ledger.invalid,
        len(line.stations) / 24,
        sum(station.order.state != Order.NONE for station in line.stations) / 24,
    ]
