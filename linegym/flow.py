"""What a line puts out when nothing disturbs it: the rate of its bottleneck, carried to the sink.

A station takes whole ticks, so its mean time a part is the mean of a rounded-up number, summed here exactly. Parts are
then followed through the line: scrap leaves it, inspections divide it, rework comes back, an assembly takes the
smaller of its feeds and holds the other up. Only + − × ÷ and comparisons: the same double on every machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linegym.plant import SINK, SOURCE

if TYPE_CHECKING:
    from linegym.blueprint import Plant, Station

SWEEPS = 64
"""Most rounds through the line; rework adds less each time, until nothing changes any more."""


def ticks_a_part(station: Station, spread: float) -> float:
    """Return the mean time that a station takes for a part, scan at its own controller's pace [ticks].

    The timer starts at a whole number evenly spread over ``cycle·(1 ± spread)`` and loses ``int(1024 / max(1, plc))``
    a tick (a fast controller does not hurry its machine) until nothing is left: a tick is needed with the probability
    that the timer exceeds what went before.
    """
    pace = int(1024 * (1 / max(1.0, station.plc)))
    low, high = station.cycle * (1 - spread), station.cycle * (1 + spread)
    ticks, gone = 0.0, 0
    while gone + 1 <= high:
        ticks += 1.0 if gone + 1 <= low else (high - (gone + 1)) / (high - low)
        gone += pace
    return ticks


class _Stream:
    """Parts a tick at every station, followed from the source to the sink."""

    def __init__(self, plant: Plant) -> None:
        self.plant = plant
        self.rates = [1 / ticks_a_part(station, plant.spread) for station in plant.stations]
        self.givers: dict[int, list[tuple[int, float]]] = {}
        self.takers: dict[int, list[int]] = {}
        for number, station in enumerate(plant.stations):
            split = plant.split if len(station.outputs) == 2 else 0.0
            for buffer, share in zip(station.outputs, (1 - plant.scrap - split, split), strict=False):
                self.givers.setdefault(buffer, []).append((number, share))
            for buffer in station.inputs:
                self.takers.setdefault(buffer, []).append(number)
        self.flows = [0.0] * len(plant.stations)
        for _ in range(SWEEPS):
            before = list(self.flows)
            self.sweep()
            if self.flows == before:
                break

    def into(self, buffer: int) -> float:
        """Return what comes into a buffer."""
        total = 0.0
        for giver, share in self.givers.get(buffer, ()):
            total += self.flows[giver] * share
        return total

    def taken(self, number: int, buffer: int) -> float:
        """Return what a station takes from a buffer; stations that share one do so by their rates."""
        if buffer == SOURCE:
            return self.flows[number] or self.rates[number]
        all_rates = 0.0
        for taker in self.takers[buffer]:
            all_rates += self.rates[taker]
        return self.into(buffer) * self.rates[number] / all_rates

    def sweep(self) -> None:
        """Carry parts once through the line."""
        for number, station in enumerate(self.plant.stations):
            feeds = [self.taken(number, buffer) for buffer in station.inputs]
            self.flows[number] = min(feeds)
            if len(feeds) == 2 and feeds[0] != feeds[1]:
                self.hold_up(station.inputs[feeds[1] > feeds[0]], min(feeds) / max(feeds))

    def hold_up(self, buffer: int, factor: float) -> None:
        """Slow everything upstream of a buffer."""
        reached, waiting = set[int](), [buffer]
        while waiting:
            for giver, _ in self.givers.get(waiting.pop(), ()):
                if giver not in reached:
                    reached.add(giver)
                    waiting += self.plant.stations[giver].inputs
        for number in reached:
            self.flows[number] *= factor


def nominal_output(plant: Plant) -> float:
    """Return the output of ``plant`` when nothing disturbs it [parts/tick]."""
    stream = _Stream(plant)
    pace = min(rate / flow for rate, flow in zip(stream.rates, stream.flows, strict=True) if flow > 0)
    return pace * stream.into(SINK)
