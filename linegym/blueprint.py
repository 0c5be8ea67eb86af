"""A line as it is built: stations, buffers, floor, spare parts. What a template draws, and what anyone can write.

Two machines and one buffer between them, a part a tick, without faults::

    Plant(
        stations=(
            Station(cycle=1024, inputs=(SOURCE,), outputs=(1,)),
            Station(cycle=1024, inputs=(1,), outputs=(SINK,), at=(1, 0)),
        ),
        capacities=(4,),
        fault=-1.0,
    )
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from linegym import layout
from linegym.errors import PlantError
from linegym.flow import nominal_output
from linegym.plant import BUFFERS, CHANNELS, FAULTS, NONE, PARTS, SINK, SOURCE, STATIONS, Fault, Quantity

CELL = 6
"""Edge of a cell of the floor, which a technician crosses in one tick [m]."""
WHOLE_TICK = 1024
"""What process times are counted in [1/tick]."""
LONGEST_CYCLE = 32_767
"""Process times are kept in 16 bits [1/1024 tick]."""
LONGEST_TRAVEL = 200
"""[ticks]"""
EVERY_FAULT = tuple(Fault)[1:]


@dataclass(frozen=True, slots=True)
class Station:
    """One place where parts are worked on."""

    cycle: int
    """Process time without disturbance [1/1024 tick]."""
    inputs: tuple[int, ...]
    """Buffers that a part is taken from: one, or two for an assembly; ``plant.SOURCE`` never runs empty."""
    outputs: tuple[int, ...]
    """Buffers that parts go to: one, or two for an inspection; ``plant.SINK`` never fills."""
    at: tuple[int, int] = (0, 0)
    """Where it stands on the floor [cells]."""
    base: float = 50.0
    """Its temperature at rest [°C]."""
    plc: float = 1.0
    """Scan time of its controller [nominal scan times]."""


@dataclass(frozen=True)
class Plant:
    """A whole line. Stations come in the order in which parts pass them.

    Raises:
        PlantError: what is described cannot be built; the message names the field.
    """

    stations: tuple[Station, ...]
    capacities: tuple[int, ...]
    """Parts that buffers 1, 2, … hold."""
    leads: tuple[int, ...] = (60,) * PARTS
    """Time from order to arrival of each kind of spare part [ticks]."""
    stock: tuple[int, ...] = (1,) * PARTS
    """Spare parts there at the start, by kind."""
    quantities: tuple[Quantity, ...] = (Quantity.TEMPERATURE, Quantity.VIBRATION, Quantity.CURRENT)
    """What each channel of a station measures; the first is the primary sensor."""
    dominant: Fault = Fault.BEARING
    """The fault class that is most frequent here."""
    allowed: tuple[Fault, ...] = EVERY_FAULT
    """Fault classes that can appear."""
    fault: float = 0.0
    """Probability that a station has a fault in a shift, beyond the certain one; negative: no faults at all."""
    noise: float = 0.0
    """Noise of the primary sensor against an ordinary one."""
    spread: float = 0.0
    """Process times vary evenly by up to this share."""
    split: float = 0.0
    """Share of parts that a station with two outputs sends to its second."""
    minor: float = 0.0
    """Probability of a minor stop [per part]."""
    clear: float = 1.0
    """Probability that a minor stop ends [per tick]."""
    scrap: float = 0.0
    """Probability that a station makes scrap [per part]."""
    rework: bool = False
    """Whether second outputs lead back; a part that finds no room there becomes scrap."""

    def __post_init__(self) -> None:
        _check_numbers(self)
        _check_stores(self)
        _check_stations(self)

    @cached_property
    def nominal(self) -> float:
        """Output when nothing disturbs the line [parts/tick]."""
        return nominal_output(self)

    def travel(self, start: int, end: int) -> int:
        """Return the time from one station to another [ticks]: a cell a tick, along the aisles."""
        return int(self.distances[start, end])

    @cached_property
    def distances(self) -> NDArray[np.int32]:  # (stations, stations)
        """Travel times between all stations [ticks]."""
        places = np.array([station.at for station in self.stations], np.int32)
        found: NDArray[np.int32] = np.abs(places[:, None] - places[None, :]).sum(axis=2, dtype=np.int32)
        found.setflags(write=False)  # plants are shared
        return found

    def position(self, station: int) -> tuple[int, int]:
        """Return where a station stands [m]."""
        x, y = self.stations[station].at
        return CELL * x, CELL * y

    def rows(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]:  # (T_ROW,), (G_ROW,)
        """Return the plant as the kernel reads it."""
        whole, real = self._rows
        return whole.copy(), real.copy()  # plants are shared

    @cached_property
    def _rows(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        whole, real = np.zeros(layout.T_ROW, np.int32), np.zeros(layout.G_ROW, np.float64)
        used = len(self.stations)
        for place in range(STATIONS):
            record = whole[place * layout.T_STRIDE : (place + 1) * layout.T_STRIDE]
            if place >= used:
                record[layout.T_CYCLE] = WHOLE_TICK
                record[layout.T_IN1 :] = NONE
                continue
            station = self.stations[place]
            record[:] = station.cycle, *_two(station.inputs), *_two(station.outputs)
            real[place * layout.G_STRIDE : (place + 1) * layout.G_STRIDE] = station.base, station.plc
        travel = whole[layout.T_TRAVEL : layout.T_TRAVEL + STATIONS * STATIONS].reshape(STATIONS, STATIONS)
        travel[:used, :used] = self.distances
        whole[layout.T_CAPACITY + 1 : layout.T_CAPACITY + 1 + len(self.capacities)] = self.capacities
        whole[layout.T_LEAD : layout.T_LEAD + PARTS] = self.leads
        whole[layout.T_STOCK : layout.T_STOCK + PARTS] = self.stock
        whole[layout.T_STATIONS], whole[layout.T_DOMINANT] = used, self.dominant
        whole[layout.T_ALLOWED] = sum(1 << fault for fault in self.allowed)
        whole[layout.T_QUANTITY : layout.T_QUANTITY + CHANNELS] = self.quantities
        whole[layout.T_REWORK] = self.rework
        real[layout.G_LINE :] = [
            self.nominal,
            self.noise,
            self.spread,
            self.split,
            self.minor,
            self.clear,
            self.fault,
            self.scrap,
        ]
        return whole, real

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the rows: two plants with the same digest are the same plant."""
        whole, real = self.rows()
        content = whole.astype("<i4").tobytes() + real.astype("<f8").tobytes()
        return hashlib.sha256(b"linegym-v1/plant/" + content).hexdigest()


def _two(buffers: tuple[int, ...]) -> tuple[int, int]:
    return buffers[0], buffers[1] if len(buffers) == 2 else NONE


def _whole(value: object, low: int, high: float) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and low <= int(value) <= high


def _refuse(field: str, value: object, expected: str) -> None:
    raise PlantError(f"Plant: {field} = {value!r}, expected {expected}")


def _check_stations(plant: Plant) -> None:
    used, inner = len(plant.stations), range(1, len(plant.capacities) + 1)
    if not 1 <= used <= STATIONS:
        _refuse("stations", plant.stations, f"1 … {STATIONS} stations")
    for number, station in enumerate(plant.stations):
        name = f"stations[{number}]"
        if not _whole(station.cycle, 1, LONGEST_CYCLE / (1 + plant.spread)):
            _refuse(f"{name}.cycle", station.cycle, f"a whole number, 1 … {LONGEST_CYCLE} with spread [1/1024 tick]")
        _check_buffers(f"{name}.inputs", station.inputs, (SOURCE, *inner))
        _check_buffers(f"{name}.outputs", station.outputs, (SINK, *inner))
        if not 0.25 <= station.plc <= 4:
            _refuse(f"{name}.plc", station.plc, "0.25 … 4 nominal scan times")
        if not -50 <= station.base <= 90:
            _refuse(f"{name}.base", station.base, "-50 … 90 °C")
    for buffer in inner:
        if not any(buffer in station.inputs for station in plant.stations):
            _refuse("stations", buffer, f"some station that takes from buffer {buffer}")
        if not any(buffer in station.outputs for station in plant.stations):
            _refuse("stations", buffer, f"some station that gives to buffer {buffer}")
    if not plant.nominal > 0:
        _refuse("split", plant.split, "some share of the parts that reaches the sink: the nominal output is 0")
    span = int(plant.distances.max())
    if span > LONGEST_TRAVEL:
        _refuse("stations[].at", span, f"stations at most {LONGEST_TRAVEL} cells apart")


def _check_buffers(field: str, buffers: tuple[int, ...], known: tuple[int, ...]) -> None:
    if len(buffers) not in (1, 2) or len(set(buffers)) < len(buffers) or not set(buffers) <= set(known):
        _refuse(field, buffers, f"one or two different buffers of {known}")


def _check_stores(plant: Plant) -> None:
    if len(plant.capacities) > BUFFERS - 2 or not all(_whole(capacity, 1, 1000) for capacity in plant.capacities):
        _refuse("capacities", plant.capacities, f"at most {BUFFERS - 2} buffers for 1 … 1000 parts each")
    for name, low, high in (("leads", 1, 1000), ("stock", 0, 100)):
        values = getattr(plant, name)
        if len(values) != PARTS or not all(_whole(value, low, high) for value in values):
            _refuse(name, values, f"{PARTS} whole numbers, {low} … {high}")
    if len(plant.quantities) != CHANNELS or len(set(plant.quantities)) < CHANNELS:
        _refuse("quantities", plant.quantities, f"{CHANNELS} different quantities")
    if {Quantity.PRESSURE, Quantity.SPEED} & set(plant.quantities[1:]):
        _refuse("quantities", plant.quantities, "pressure and speed as the primary sensor only")
    if not plant.allowed or not set(plant.allowed) <= set(EVERY_FAULT) or len(set(plant.allowed)) > FAULTS:
        _refuse("allowed", plant.allowed, "fault classes, one at least, without Fault.NONE")
    if plant.dominant not in plant.allowed:
        _refuse("dominant", plant.dominant, f"one of the allowed classes {plant.allowed}")


def _check_numbers(plant: Plant) -> None:
    for name, low, high in (
        ("fault", -1, 1),
        ("noise", 0, 100),
        ("spread", 0, 0.99),
        ("split", 0, 1),
        ("minor", 0, 1),
        ("clear", 0, 1),
        ("scrap", 0, 0.5),
    ):
        if not low <= getattr(plant, name) <= high:
            _refuse(name, getattr(plant, name), f"{low} … {high}")
    if plant.scrap + plant.split > 1:
        _refuse("split", plant.split, f"at most 1 less the scrap {plant.scrap!r}")
