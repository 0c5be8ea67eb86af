"""The six topologies: which station takes from which buffer, and gives to which.

Each function draws the shape of one line. Buffers are numbered in the order in which they are built; stations come in
the order in which parts pass them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from linegym.philox import Draws
from linegym.plant import SINK, SOURCE, STATIONS

SPLIT = 0.3
"""Share of parts that an inspection sends to the finishing branch."""
REWORK = 0.08
"""Share of parts that an inspection sends back."""
TWIN_LANE, FEEDER_LANE, BRANCH_LANE = 1, 2, -2


@dataclass(frozen=True, slots=True)
class Spot:
    """A station to be: what it is connected to, and where it stands beside the main path."""

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    step: int
    lane: int = 0
    doubled: bool = False
    """One of two stations that share the work of a stage, each taking twice the time."""


@dataclass(slots=True)
class Shape:
    """A line while it is drawn."""

    spots: list[Spot] = field(default_factory=list)
    buffers: int = 0
    split: float = 0.0
    rework: bool = False

    def buffer(self) -> int:
        """Return a new buffer."""
        self.buffers += 1
        return self.buffers

    def stage(self, before: int, after: tuple[int, ...], step: int, *, lane: int = 0, doubled: bool = False) -> None:
        """Add a stage between two buffers: one station, or two that share it."""
        self.spots.append(Spot((before,), after, step, lane, doubled))
        if doubled:
            self.spots.append(Spot((before,), after, step, lane + TWIN_LANE, doubled))

    def chain(
        self, before: int, last: int, steps: range, *, lane: int = 0, doubled: frozenset[int] = frozenset()
    ) -> None:
        """Add a chain of stages from one buffer to another, with new buffers between them."""
        for step in steps:
            after = last if step == steps[-1] else self.buffer()
            self.stage(before, (after,), step, lane=lane, doubled=step in doubled)
            before = after

    def feeders(self, first: int, second: int) -> tuple[int, int]:
        """Add two feeders and the assembly that joins them; return the buffer behind it and the next step."""
        longest = max(first, second)
        one, other, after = self.buffer(), self.buffer(), self.buffer()
        self.chain(SOURCE, one, range(longest - first, longest))
        self.chain(SOURCE, other, range(longest - second, longest), lane=FEEDER_LANE)
        self.spots.append(Spot((one, other), (after,), longest))
        return after, longest + 1

    def loop(self, before: int, steps: range, enters: int, leaves: int, doubled: frozenset[int] = frozenset()) -> None:
        """Add a chain to the sink whose station at ``leaves`` sends parts back to the one at ``enters``."""
        self.split, self.rework, back = REWORK, True, before
        for step in steps:
            if step == enters:
                back = before
            after = SINK if step == steps[-1] else self.buffer()
            self.stage(before, (after, back) if step == leaves else (after,), step, doubled=step in doubled)
            before = after


def serial(draws: Draws) -> Shape:
    """Draw a transfer line: one station after the other."""
    shape = Shape()
    shape.chain(SOURCE, SINK, range(draws.between(8, 14)))
    return shape


def parallel(draws: Draws) -> Shape:
    """Draw a chain in which two stations share each of one to three stages."""
    stations, twins = draws.between(10, 16), draws.between(1, 3)
    shape, stages = Shape(), list(range(stations - twins))
    doubled = frozenset(stages.pop(draws.between(0, len(stages) - 1)) for _ in range(twins))
    shape.chain(SOURCE, SINK, range(stations - twins), doubled=doubled)
    return shape


def assembly_merge(draws: Draws) -> Shape:
    """Draw two feeders that meet in an assembly, and a chain behind it."""
    stations, first, second = draws.between(10, 18), draws.between(2, 4), draws.between(2, 4)
    shape = Shape()
    before, step = shape.feeders(first, second)
    shape.chain(before, SINK, range(step, step + stations - first - second - 1))
    return shape


def inspection_split(draws: Draws) -> Shape:
    """Draw a chain with an inspection at about 60 %, from which some parts take a finishing branch of their own."""
    stations, branch = draws.between(10, 16), draws.between(2, 3)
    shape, steps = Shape(split=SPLIT), stations - branch
    inspection = steps * 3 // 5
    before, straight, aside = shape.buffer(), shape.buffer(), shape.buffer()
    shape.chain(SOURCE, before, range(inspection))
    shape.stage(before, (straight, aside), inspection)
    shape.chain(straight, SINK, range(inspection + 1, steps))
    shape.chain(aside, SINK, range(inspection + 1, inspection + 1 + branch), lane=BRANCH_LANE)
    return shape


def rework_loop(draws: Draws) -> Shape:
    """Draw a chain with an inspection near its end that sends some parts back."""
    stations = draws.between(10, 16)
    leaves = stations - draws.between(2, 3)
    shape = Shape()
    shape.loop(SOURCE, range(stations), draws.between(leaves - 5, leaves - 2), leaves)
    return shape


def hybrid(draws: Draws) -> Shape:
    """Draw a line of every place there is: two feeders, an assembly, a doubled stage, a rework loop."""
    first, second = draws.between(3, 5), draws.between(3, 5)
    shape = Shape()
    before, step = shape.feeders(first, second)
    end = step + STATIONS - first - second - 2
    leaves = end - draws.between(2, 3)
    enters = draws.between(leaves - 5, leaves - 2)
    shape.loop(before, range(step, end), enters, leaves, frozenset({draws.between(step, enters - 1)}))
    return shape


TOPOLOGIES: Mapping[str, Callable[[Draws], Shape]] = {
    "serial": serial,
    "parallel": parallel,
    "assembly-merge": assembly_merge,
    "inspection-split": inspection_split,
    "rework-loop": rework_loop,
    "hybrid": hybrid,
}
"""In the order of the rule that makes the templates."""
