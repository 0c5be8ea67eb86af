"""The same state in the kernel's form: where each number of the objects lies in the rows of ``linegym/layout.py``.

Places that no station uses are 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linegym import layout
from linegym.plant import STATIONS, Order
from linegym.reference.station import Station

if TYPE_CHECKING:
    from linegym.reference.line import ReferenceLine

_PHASES = {Order.NONE: 0, Order.OPEN: 2, Order.TRAVEL: 3, Order.REPAIR: 4, Order.DONE: 4}


def short(line: ReferenceLine) -> NDArray[np.int16]:
    """Return the ``H`` row."""
    row = np.zeros(layout.H_ROW, dtype=np.int16)
    _places(row, layout.H_STRIDE, [_short(station) for station in line.stations])
    crew, shelves, switches = line.crew, line.store.shelves, line.switches
    blocks: dict[int, Sequence[int]] = {
        layout.H_BUFFER: [buffer.parts for buffer in line.floor.buffers],
        layout.H_TECH_STATE: [technician.state for technician in crew],
        layout.H_TECH_AT: [technician.at for technician in crew],
        layout.H_TECH_TO: [technician.to for technician in crew],
        layout.H_TECH_TIMER: [technician.timer for technician in crew],
        layout.H_TECH_CHANNEL: [technician.channel for technician in crew],
        layout.H_STOCK: [shelf.stock for shelf in shelves],
        layout.H_COMING: [shelf.coming for shelf in shelves],
        layout.H_COMES: [shelf.comes for shelf in shelves],
        layout.H_BAD: [switch.bad for switch in switches],
        layout.H_BACKLOG: [switch.backlog for switch in switches],
        layout.H_SPIKE: [line.load.spike],
    }
    for start, numbers in blocks.items():
        row[start : start + len(numbers)] = numbers
    return row


def long(line: ReferenceLine) -> NDArray[np.int32]:
    """Return the ``I`` row."""
    row = np.zeros(layout.I_ROW, dtype=np.int32)
    _places(row, layout.I_STRIDE, [[place.wear.exposure, place.wear.onset, place.link.rto] for place in line.stations])
    ledger = line.ledger
    row[layout.I_TICK] = line.t
    row[layout.I_EPISODE] = line.episode
    row[layout.I_OUTPUT] = ledger.output
    row[layout.I_SCRAP] = line.floor.scrap
    row[layout.I_SPIKE_MASK] = line.load.spike_mask
    row[layout.I_FAULTS_DUE] = ledger.faults_due
    row[layout.I_CLOSED_DUE] = ledger.closed_due
    row[layout.I_FAULTS] = ledger.faults
    row[layout.I_CLOSED] = ledger.closed
    row[layout.I_WRONG] = ledger.wrong
    row[layout.I_LATE] = ledger.late
    row[layout.I_OVER] = ledger.over
    row[layout.I_INVALID] = ledger.invalid
    row[layout.I_SUCCESS] = ledger.success
    return row


def real(line: ReferenceLine) -> NDArray[np.float32]:
    """Return the ``F`` row; every number is one of single precision already."""
    row = np.zeros(layout.F_ROW, dtype=np.float32)
    _places(row, layout.F_STRIDE, [_real(station) for station in line.stations])
    row[layout.F_AR1], row[layout.F_AR2], row[layout.F_SCAN] = line.load.ar1, line.load.ar2, line.load.scan
    for w, switch in enumerate(line.switches):
        row[layout.F_SRTT + w] = switch.srtt
        row[layout.F_RTTVAR + w] = switch.rttvar
    return row


def facts(line: ReferenceLine) -> dict[str, int]:
    """Return what a step tells besides observation and reward, named as ``layout.FACTS``."""
    ledger, closing = line.ledger, line.ledger.closing
    told = {
        "episode": line.episode,
        "tick": line.t,
        "scrap": line.floor.scrap,
        "phase": max(_phase(station) for station in line.stations),
        "closed_station": closing.station if closing else -1,
        "closed_right": closing.right if closing else 0,
    }
    told |= {name: getattr(closing, name, 0) for name in ("identify", "assess", "dispatch", "execute")}
    told |= {name: getattr(ledger, name) for name in layout.FACTS if name not in told}
    return {name: int(told[name]) for name in layout.FACTS}


def _phase(station: Station) -> int:
    """Return how far the station's work order is, or 1 when its alarm waits for one."""
    if station.order.state == Order.NONE:
        return int(station.monitor.alarm)
    return _PHASES[station.order.state]


def _places(row: NDArray[Any], stride: int, records: Sequence[Sequence[float]]) -> None:
    """Write a record for each station to the start of a row."""
    places = row[: STATIONS * stride].reshape(STATIONS, stride)
    places[: len(records)] = records


def _short(station: Station) -> list[float]:
    """Return the int16 record of a station."""
    return [*_short_work(station), *_short_fault(station), *_short_order(station), *_short_control(station)]


def _short_work(station: Station) -> list[float]:
    machine = station.machine
    return [
        machine.work,
        machine.timer,
        machine.stopped,
        machine.destination,
        machine.loaded,
        machine.done,
        station.controller.trip,
        machine.still,
        station.sensors.hold,
    ]


def _short_fault(station: Station) -> list[float]:
    wear = station.wear
    return [wear.fault, wear.fault_at, wear.mended_at, wear.sign, wear.next, wear.renewals]


def _short_order(station: Station) -> list[float]:
    order = station.order
    return [order.state, order.claim, order.technician, order.opened, order.sent, order.arrived, order.fixed]


def _short_control(station: Station) -> list[float]:
    monitor, controller = station.monitor, station.controller
    return [
        *(monitor.last, monitor.exceed, monitor.flat, monitor.alarm, monitor.alarm_at, monitor.muted),
        *(controller.throttled, controller.throttle_due, controller.throttle_to),
        station.inspection.at,
        *(station.sensors.phase, station.sensors.jitter),
        *station.link.due,
    ]


def _real(station: Station) -> list[float]:
    """Return the float32 record of a station."""
    body, monitor = station.body, station.monitor
    record = [body.temperature, body.vibration, body.current, body.aux, station.wear.severity, station.wear.bias]
    record += [station.machine.cycle, monitor.gap, *station.sensors.held, *monitor.seen, monitor.scan]
    record += [*monitor.mean, *monitor.variance, *station.inspection.clean]
    for packet in station.link.packets:
        record += [*packet.readings, packet.scan]
    return record
