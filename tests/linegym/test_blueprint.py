"""A line can be described by hand, is refused when it contradicts itself, and its nominal output is the true one."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from linegym import layout
from linegym.blueprint import Plant, Station
from linegym.errors import PlantError
from linegym.flow import ticks_a_part
from linegym.plant import NONE, SINK, SOURCE, STATIONS, Fault, Quantity

FIRST = Station(cycle=1024, inputs=(SOURCE,), outputs=(1,))
LAST = Station(cycle=1024, inputs=(1,), outputs=(SINK,), at=(3, 2))
TWO = Plant(stations=(FIRST, LAST), capacities=(4,), fault=-1.0)
"""Two machines, one buffer, a part a tick: the line that theory knows a formula for."""


def chain(*cycles: int, **rest: float) -> Plant:
    """Return a serial line."""
    last = len(cycles) - 1
    stations = (
        Station(cycle, (number,), (SINK if number == last else number + 1,)) for number, cycle in enumerate(cycles)
    )
    return Plant(stations=tuple(stations), capacities=(4,) * last, **rest)  # type: ignore[arg-type]


def test_two_machines_fill_their_rows() -> None:
    """What the kernel reads, place for place."""
    whole, real = TWO.rows()
    assert (whole.dtype, whole.shape, real.dtype, real.shape) == (
        np.int32,
        (layout.T_ROW,),
        np.float64,
        (layout.G_ROW,),
    )
    assert whole[: 2 * layout.T_STRIDE].tolist() == [1024, SOURCE, NONE, 1, NONE, 1024, 1, NONE, SINK, NONE]
    assert whole[layout.T_CAPACITY : layout.T_CAPACITY + 3].tolist() == [0, 4, 0]
    travel = whole[layout.T_TRAVEL :][: STATIONS * STATIONS].reshape(STATIONS, STATIONS)
    assert travel[:2, :2].tolist() == [[0, 5], [5, 0]]
    assert not travel[2:].any()
    assert not travel[:, 2:].any()
    assert whole[[layout.T_STATIONS, layout.T_DOMINANT, layout.T_ALLOWED]].tolist() == [2, Fault.BEARING, 0b111111110]
    assert real[[layout.G_NOMINAL, layout.G_FAULT, layout.G_SPREAD]].tolist() == [1.0, -1.0, 0.0]
    whole[:], real[:] = 9, 9.0
    assert TWO.rows()[0][0] == 1024, "what somebody writes into them is his own"
    assert TWO.rows()[1][layout.G_NOMINAL] == 1.0


def test_digest_is_that_of_the_content() -> None:
    """The same line has the same digest in every process; any other has another."""
    assert TWO.digest == pickle.loads(pickle.dumps(TWO)).digest == replace(TWO).digest
    others = [replace(TWO, noise=0.5), replace(TWO, capacities=(5,)), replace(TWO, stock=(2,) * 8)]
    others.append(replace(TWO, stations=(FIRST, replace(LAST, at=(3, 3)))))
    assert len({plant.digest for plant in (TWO, *others)}) == 5


def test_floor_is_measured_along_the_aisles() -> None:
    """Cells of 6 m, one a tick."""
    assert TWO.travel(0, 1) == TWO.travel(1, 0) == 5
    assert TWO.position(1) == (18, 12)


@pytest.mark.parametrize(
    ("cycle", "spread", "plc"),
    [(1024, 0.0, 1.0), (3072, 0.1, 1.08), (4500, 0.1, 0.93), (700, 0.3, 1), (3000, 0.1, 1.0)],
)
def test_ticks_a_part_is_the_mean_of_rounded_up_times(cycle: int, spread: float, plc: float) -> None:
    """Against the rule of the plant's description, for 100 000 evenly spread words."""
    shares = (np.arange(100_000) + 0.5) / 100_000
    timers = (cycle * (1 + spread * (2 * shares - 1))).astype(np.int64)
    ticks = -(-timers // int(1024 * (1 / max(1, plc))))
    assert ticks_a_part(Station(cycle, (SOURCE,), (SINK,), plc=plc), spread) == pytest.approx(ticks.mean(), abs=2e-3)


def test_the_slowest_station_sets_the_pace() -> None:
    """Two, five and three ticks: a part each five."""
    assert chain(2048, 5120, 3072).nominal == pytest.approx(1 / 5)


def test_scrap_counts_where_it_is_made() -> None:
    """The bottleneck comes second of three and passes on 0.9 of what it makes; the third makes 0.9 of that good."""
    assert chain(1024, 2048, 1024, scrap=0.1).nominal == pytest.approx(0.5 * 0.9 * 0.9)


def test_rates_of_a_doubled_stage_add() -> None:
    """Four and six ticks side by side: 5/12 parts a tick."""
    twins = (Station(4096, (1,), (2,)), Station(6144, (1,), (2,)))
    plant = Plant(stations=(FIRST, *twins, Station(1024, (2,), (SINK,))), capacities=(2, 2))
    assert plant.nominal == pytest.approx(5 / 12)


def test_a_doubled_stage_at_the_source_adds_too() -> None:
    """Nothing is ahead that could divide parts between them."""
    twins = (Station(4096, (SOURCE,), (1,)), Station(6144, (SOURCE,), (1,)))
    assert Plant(stations=(*twins, LAST), capacities=(2,)).nominal == pytest.approx(5 / 12)


def test_an_assembly_waits_for_its_slower_feeder() -> None:
    """One feeder gives a part each two ticks, the other each three."""
    feeders = (Station(2048, (SOURCE,), (1,)), Station(3072, (SOURCE,), (2,)))
    plant = Plant(stations=(*feeders, Station(1024, (1, 2), (SINK,))), capacities=(2, 2))
    assert plant.nominal == pytest.approx(1 / 3)


def test_a_feeder_that_waits_is_no_bottleneck() -> None:
    """Its second station takes longer than its first, but the other feeder takes longer still."""
    feeder = (Station(1024, (SOURCE,), (1,)), Station(3072, (1,), (2,)))
    plant = Plant(
        stations=(*feeder, Station(4096, (SOURCE,), (3,)), Station(1024, (2, 3), (SINK,))), capacities=(2, 2, 2)
    )
    assert plant.nominal == pytest.approx(1 / 4)


def test_rework_takes_time_twice() -> None:
    """A fifth comes back to the two-tick station: it works 1/(1 - 0.2) times a good part."""
    stations = (FIRST, Station(2048, (1,), (2,)), Station(1024, (2,), (SINK, 1)))
    assert Plant(stations=stations, capacities=(2, 2), split=0.2, rework=True).nominal == pytest.approx(0.5 * 0.8)


def test_a_finishing_branch_gets_its_share() -> None:
    """At 0.3 of the parts, a branch of five ticks keeps up with an inspection of one and a half."""
    stations = (Station(1536, (SOURCE,), (1, 2)), Station(1024, (1,), (SINK,)), Station(5120, (2,), (SINK,)))
    slow = Plant(stations=stations, capacities=(2, 2), split=0.3)
    assert slow.nominal == pytest.approx(1 / 2)  # the inspection takes two whole ticks
    assert replace(slow, split=0.5).nominal == pytest.approx(0.4)  # now the branch binds


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"stations": ()}, "stations"),
        ({"stations": (FIRST,) * 25}, "stations"),
        ({"stations": (replace(FIRST, cycle=0), LAST)}, r"stations\[0\].cycle"),
        ({"stations": (replace(FIRST, cycle=1024.5), LAST)}, r"stations\[0\].cycle"),
        ({"stations": (replace(FIRST, cycle=40_000), LAST)}, r"stations\[0\].cycle"),
        ({"stations": (FIRST, replace(LAST, inputs=(2,)))}, r"stations\[1\].inputs"),
        ({"stations": (FIRST, replace(LAST, inputs=(1, 1)))}, r"stations\[1\].inputs"),
        ({"stations": (FIRST, replace(LAST, outputs=(SOURCE,)))}, r"stations\[1\].outputs"),
        ({"stations": (FIRST, replace(LAST, outputs=()))}, r"stations\[1\].outputs"),
        ({"stations": (FIRST, replace(LAST, plc=float("nan")))}, r"stations\[1\].plc"),
        ({"stations": (FIRST, replace(LAST, base=150))}, r"stations\[1\].base"),
        ({"stations": (FIRST, replace(LAST, at=(500, 0)))}, r"stations\[\].at"),
        ({"capacities": (4, 4)}, "stations = 2"),
        ({"capacities": (0,)}, "capacities"),
        ({"leads": (60.5,) * 8}, "leads"),
        ({"leads": (60,) * 7}, "leads"),
        ({"stock": (-1,) * 8}, "stock"),
        ({"quantities": (Quantity.TEMPERATURE, Quantity.PRESSURE, Quantity.CURRENT)}, "quantities"),
        ({"quantities": (Quantity.CURRENT,) * 3}, "quantities"),
        ({"allowed": ()}, "allowed"),
        ({"allowed": (Fault.NONE,)}, "allowed"),
        ({"dominant": Fault.LEAK, "allowed": (Fault.JAM,)}, "dominant"),
        ({"spread": 1.0}, "spread"),
        ({"minor": 2}, "minor"),
        ({"clear": -0.1}, "clear"),
        ({"scrap": 0.6}, "scrap"),
        ({"split": 1.0, "scrap": 0.1}, "split"),
        ({"noise": float("nan")}, "noise"),
    ],
)
def test_a_contradiction_is_refused_by_field(changes: dict[str, object], field: str) -> None:
    """A silent mistake here is another plant under the same name."""
    with pytest.raises(PlantError, match=f"Plant: {field}.*expected"):
        replace(TWO, **changes)  # type: ignore[arg-type]


def test_refuses_a_line_that_puts_nothing_out() -> None:
    """The nominal output divides the reward."""
    gives_back = replace(LAST, outputs=(SINK, 1))
    with pytest.raises(PlantError, match=r"split = 1\.0"):
        replace(TWO, stations=(FIRST, gives_back), split=1.0, rework=True)
