"""Scene: a line at one moment as a person would describe it, read from the arrays that the kernel steps.

A scene shows what no policy sees: true faults and true values stand beside what the sensors delivered.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from linegym import layout
from linegym.batch import Batch
from linegym.blueprint import Plant
from linegym.plant import (
    CHANNELS,
    PARTS,
    SINK,
    SOURCE,
    STATIONS,
    TECHNICIANS,
    Crew,
    Fault,
    Order,
    Panel,
    Quantity,
)

Point = tuple[float, float]
"""On the floor [cells]."""
TRUE_FIELD = (layout.F_TEMPERATURE, layout.F_VIBRATION, layout.F_CURRENT, layout.F_AUX, layout.F_AUX)
"""Where the true value of each quantity lies in a station's record."""

PANEL = 13
"""Where a station's stack light is among its numbers in the observation."""


@dataclass(frozen=True, slots=True)
class StationView:
    """One station."""

    number: int
    at: Point
    panel: Panel
    fault: Fault
    """The true one, which the agent does not see."""
    severity: float
    alarm: bool
    throttled: bool
    order: Order
    claim: int
    """Claimed class - 1, or -1."""
    technician: int
    """On the work order, or -1."""
    opened: int
    """When the work order was opened [tick]."""
    true: tuple[float, ...]
    """(3,) in the unit of each channel."""
    seen: tuple[float, ...]
    """(3,) the newest delivered readings."""
    age: int
    """Of the newest sample [ticks]."""
    first: bool
    """Whether it takes from the source."""
    last: bool
    """Whether it gives to the sink."""


@dataclass(frozen=True, slots=True)
class BufferView:
    """One buffer, between the stations that fill it and those that empty it."""

    at: Point
    level: int
    capacity: int
    before: tuple[int, ...]
    """Stations that give to it."""
    after: tuple[int, ...]
    back: tuple[int, ...]
    """Stations further down the line that send parts back to it."""


@dataclass(frozen=True, slots=True)
class TechnicianView:
    """One technician."""

    number: int
    state: Crew
    at: Point
    near: int
    """Station where he is, or comes from."""
    to: int
    """Station that he goes to, or -1."""
    timer: int
    """Until he is there, or done [ticks]."""


@dataclass(frozen=True, slots=True)
class PartView:
    """One kind of spare part."""

    stock: int
    coming: int
    arrival: int
    """Until it comes [ticks]; -1 nothing ordered."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A line at one moment."""

    variant: str
    quantities: tuple[Quantity, ...]
    """What each channel measures."""
    tick: int
    horizon: int
    episode: int
    output: int
    nominal: float
    """Output when nothing disturbs the line, of the shift so far [parts]."""
    scrap: int
    closed: int
    wrong: int
    success: bool
    scan: float
    """Scan time of the controllers [nominal]."""
    stations: tuple[StationView, ...]
    buffers: tuple[BufferView, ...]
    technicians: tuple[TechnicianView, ...]
    parts: tuple[PartView, ...]

    @property
    def over(self) -> bool:
        """Whether the shift has ended."""
        return self.tick >= self.horizon


def scene(batch: Batch, row: int) -> Scene:
    """Return what the line in a row of a batch is now."""
    variant, kept = batch.variants[row], batch.save(row)
    plant = variant.template.plant()
    h, i = np.frombuffer(kept.short, np.int16), np.frombuffer(kept.whole, np.int32)
    f = np.frombuffer(kept.real, np.float32)
    tick = int(i[layout.I_TICK])
    seen = batch.observations[row]
    panels = [Panel(round(4 * float(seen[PANEL + number * layout.SEEN_STRIDE]))) for number in range(STATIONS)]
    stations = tuple(_station(plant, number, h, f, tick, panels[number]) for number in range(len(plant.stations)))
    return Scene(
        variant=variant.id,
        quantities=plant.quantities,
        tick=tick,
        horizon=batch.horizon,
        episode=int(i[layout.I_EPISODE]),
        output=int(i[layout.I_OUTPUT]),
        nominal=plant.nominal * tick,
        scrap=int(i[layout.I_SCRAP]),
        closed=int(i[layout.I_CLOSED]),
        wrong=int(i[layout.I_WRONG]),
        success=bool(i[layout.I_SUCCESS]),
        scan=float(f[layout.F_SCAN]),
        stations=stations,
        buffers=tuple(_buffer(plant, number, h) for number in range(1, len(plant.capacities) + 1)),
        technicians=tuple(_technician(plant, number, h) for number in range(TECHNICIANS)),
        parts=tuple(_part(number, h, tick) for number in range(PARTS)),
    )


def _station(
    plant: Plant, number: int, h: NDArray[np.int16], f: NDArray[np.float32], tick: int, panel: Panel
) -> StationView:
    short = h[number * layout.H_STRIDE : (number + 1) * layout.H_STRIDE]
    real = f[number * layout.F_STRIDE : (number + 1) * layout.F_STRIDE]
    return StationView(
        number=number,
        at=plant.stations[number].at,
        panel=panel,
        fault=Fault(int(short[layout.H_FAULT])),
        severity=float(real[layout.F_SEVERITY]),
        alarm=bool(short[layout.H_ALARM]),
        throttled=bool(short[layout.H_THROTTLED]),
        order=Order(int(short[layout.H_ORDER])),
        claim=int(short[layout.H_CLAIM]),
        technician=int(short[layout.H_TECH]),
        opened=int(short[layout.H_OPENED]),
        true=tuple(float(real[TRUE_FIELD[quantity]]) for quantity in plant.quantities),
        seen=tuple(float(real[layout.F_SEEN + channel]) for channel in range(CHANNELS)),
        age=max(0, tick - 1 - int(short[layout.H_LAST])),
        first=SOURCE in plant.stations[number].inputs,
        last=SINK in plant.stations[number].outputs,
    )


def _buffer(plant: Plant, number: int, h: NDArray[np.int16]) -> BufferView:
    after = [n for n, station in enumerate(plant.stations) if number in station.inputs]
    givers = [n for n, station in enumerate(plant.stations) if number in station.outputs]
    before = [n for n in givers if n < min(after)]
    ends = [_middle(plant, group) for group in (before, after) if group]
    return BufferView(
        at=(fmean(x for x, _ in ends), fmean(y for _, y in ends)),
        level=int(h[layout.H_BUFFER + number]),
        capacity=plant.capacities[number - 1],
        before=tuple(before),
        after=tuple(after),
        back=tuple(n for n in givers if n not in before),
    )


def _middle(plant: Plant, stations: list[int]) -> Point:
    places = [plant.stations[n].at for n in stations]
    return fmean(x for x, _ in places), fmean(y for _, y in places)


def _technician(plant: Plant, number: int, h: NDArray[np.int16]) -> TechnicianView:
    state = Crew(int(h[layout.H_TECH_STATE + number]))
    near, to = int(h[layout.H_TECH_AT + number]), int(h[layout.H_TECH_TO + number])
    timer = int(h[layout.H_TECH_TIMER + number])
    at: Point = plant.stations[near].at
    if state in (Crew.TO_REPAIR, Crew.TO_INSPECT):
        # He starts when the command has reached him; until then more time is left than the way takes.
        way = plant.travel(near, to) + 1
        at = _along(at, plant.stations[to].at, 1 - min(timer, way) / way)
    return TechnicianView(number, state, at, near, to, timer)


def _along(start: Point, end: Point, share: float) -> Point:
    """Return the point that is a share of the way along the aisles, first along the line, then across."""
    (x, y), (u, v) = start, end
    gone = share * (abs(u - x) + abs(v - y))
    first = min(gone, abs(u - x))
    rest = gone - first
    return x + first * np.sign(u - x), y + rest * np.sign(v - y)


def _part(number: int, h: NDArray[np.int16], tick: int) -> PartView:
    comes = int(h[layout.H_COMES + number])
    arrival = max(0, comes - tick) if comes >= 0 else -1
    return PartView(int(h[layout.H_STOCK + number]), int(h[layout.H_COMING + number]), arrival)
