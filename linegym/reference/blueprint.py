"""What does not change during an episode: the plant as built, the disturbance it lives under, the length of the shift.

Read from the rows of ``linegym/layout.py``; fields are named as there, without the prefix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from linegym import layout
from linegym.plant import BUFFERS, CHANNELS, DUE_SHARE, NOMINAL, PARTS, SCALE, STATIONS, Fault, Quantity
from linegym.reference.chance import Chance


class Rows(NamedTuple):
    """A variant as the kernel gets it."""

    integers: Sequence[int]  # (layout.T_ROW,)
    reals: Sequence[float]  # (layout.G_ROW,)
    disturbance: Sequence[float]  # (layout.V_ROW,)
    uid: int
    """Hash of the content: what keys the variant's randomness."""


@dataclass(frozen=True, slots=True)
class Place:
    """A station as built."""

    cycle: int
    """Process time [1/1024 tick]."""
    in1: int
    in2: int
    """Second input buffer of an assembly, or -1."""
    out1: int
    out2: int
    """Second output buffer, or -1."""
    base: float
    """Temperature at rest [°C]."""
    plc: float
    """Scan time of its controller against nominal."""


@dataclass(frozen=True, slots=True)
class Channel:
    """One measured quantity of one station."""

    number: int
    quantity: Quantity
    usual: float
    """What it reads when all is well [unit of the quantity]."""

    @property
    def scale(self) -> float:
        """What one normalised unit is [unit of the quantity]."""
        return SCALE[self.quantity]

    def deviation(self, x: float) -> float:
        """Return how far ``x`` is from usual, in normalised units."""
        return (x - self.usual) / self.scale


@dataclass(frozen=True, slots=True)
class Blueprint:
    """A template: the line as built."""

    places: tuple[Place, ...]
    capacity: tuple[int, ...]  # (BUFFERS,) [parts]
    travel: tuple[tuple[int, ...], ...]  # (STATIONS, STATIONS) from, to [ticks]
    lead: tuple[int, ...]  # (PARTS,) [ticks]
    stock: tuple[int, ...]  # (PARTS,)
    quantities: tuple[Quantity, ...]  # (CHANNELS,)
    dominant: Fault
    allowed: int
    """Bit ``i``: fault class ``i`` can appear."""
    rework: bool
    """A part whose second output is full becomes scrap."""
    nominal: float
    """Output when all is well [parts/tick]."""
    noise: float
    spread: float
    split: float
    minor: float
    clear: float
    fault: float
    scrap: float

    @classmethod
    def read(cls, integers: Sequence[int], reals: Sequence[float]) -> Blueprint:
        """Return the template that two rows describe."""

        def ints(start: int, count: int) -> tuple[int, ...]:
            return tuple(int(x) for x in integers[start : start + count])

        def place(s: int) -> Place:
            cycle, in1, in2, out1, out2 = ints(s * layout.T_STRIDE, layout.T_STRIDE)
            base, plc = (float(x) for x in reals[s * layout.G_STRIDE : s * layout.G_STRIDE + 2])
            return Place(cycle, in1, in2, out1, out2, base, plc)

        named = ("nominal", "noise", "spread", "split", "minor", "clear", "fault", "scrap")
        return cls(
            places=tuple(place(s) for s in range(integers[layout.T_STATIONS])),
            capacity=ints(layout.T_CAPACITY, BUFFERS),
            travel=tuple(ints(layout.T_TRAVEL + s * STATIONS, STATIONS) for s in range(STATIONS)),
            lead=ints(layout.T_LEAD, PARTS),
            stock=ints(layout.T_STOCK, PARTS),
            quantities=tuple(Quantity(q) for q in ints(layout.T_QUANTITY, CHANNELS)),
            dominant=Fault(integers[layout.T_DOMINANT]),
            allowed=int(integers[layout.T_ALLOWED]),
            rework=bool(integers[layout.T_REWORK]),
            **{name: float(reals[getattr(layout, f"G_{name.upper()}")]) for name in named},
        )

    def channels(self, station: int) -> tuple[Channel, ...]:
        """Return what is measured at a station; temperature is usual above the station's own base."""
        base = self.places[station].base
        return tuple(
            Channel(k, q, NOMINAL[q] + base if q == Quantity.TEMPERATURE else NOMINAL[q])
            for k, q in enumerate(self.quantities)
        )


@dataclass(frozen=True, slots=True)
class Disturbance:
    """A variant's perturbations: fields as ``layout.V_…``, with the meanings told there."""

    sine: float
    impulse: float
    impulse_p: float
    signed: float
    noise: float
    wander: float
    hold_p: float
    arrivals: float
    exp_arrivals: float
    latency: float
    exp_latency: float
    to_bad: float
    to_good: float
    loss_bad: float
    loss_good: float
    rtt: float
    ar: float
    periodic: float
    spike_p: float
    spike: float
    ripple: float
    target: float

    @classmethod
    def read(cls, row: Sequence[float]) -> Disturbance:
        """Return the perturbations that a row describes."""
        return cls(**{name: float(row[getattr(layout, f"V_{name.upper()}")]) for name in cls.__slots__})


@dataclass(frozen=True, slots=True)
class Setting:
    """All that an episode is given."""

    blueprint: Blueprint
    disturbance: Disturbance
    chance: Chance
    horizon: int
    """Length of the shift [ticks]."""

    def is_due(self, tick: int) -> bool:
        """Say whether a fault of that tick came early enough to count for success."""
        return tick < DUE_SHARE * self.horizon
