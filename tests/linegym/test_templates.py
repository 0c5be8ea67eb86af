"""The 683 templates are what the rule gives, and every one of them is a line that could stand somewhere."""

from __future__ import annotations

import hashlib
from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from linegym import layout
from linegym.blueprint import Plant, Station
from linegym.data import make_templates
from linegym.errors import UnknownTemplate
from linegym.plant import SINK, SOURCE, STATIONS, Fault, Quantity
from linegym.tables import published
from linegym.templates import (
    DELAY_FACTOR,
    FAULTS,
    SENSORS,
    TEMPLATES,
    TEMPLATES_SHA256,
    CustomTemplate,
    Template,
    possible,
    rule,
    template,
)
from linegym.topologies import TOPOLOGIES

LIST_DIGEST = "6a9c2f56ede86c3f"
PLANTS_DIGEST = "703158d2c95e7ea5b1fd8139a8fb5d15b99222e8eb9019daf235bb57ca2cbf4f"
"""Of all plants. Another one means other episodes under the same names: raise the environment's version."""
MARGINALS = {
    "topology": (106, 128, 128, 118, 128, 75),
    "sensor": (135, 135, 66, 211, 103, 33),
    "protocol": (184, 153, 108, 130, 108),
    "fault": (92, 81, 49, 38, 44, 119, 130, 130),
}
AXES = {"topology": TOPOLOGIES, "sensor": SENSORS, "protocol": DELAY_FACTOR, "fault": FAULTS}
STATIONS_OF = {
    "serial": range(8, 15),
    "parallel": range(10, 17),
    "assembly-merge": range(10, 19),
    "inspection-split": range(10, 17),
    "rework-loop": range(10, 17),
    "hybrid": range(24, 25),
}


def of(topology: str) -> list[Plant]:
    return [each.plant() for each in TEMPLATES if each.topology == topology]


def sharing(plant: Plant) -> int:
    """Return how many stages are doubled."""
    inner = Counter(station.inputs for station in plant.stations if station.inputs[0] != SOURCE)
    heads = Counter((station.inputs, station.outputs) for station in plant.stations if station.inputs[0] == SOURCE)
    return sum(count == 2 for count in (*inner.values(), *heads.values()))


def after(plant: Plant, station: Station) -> set[Station]:
    """Return everything that parts of a station can reach."""
    reached: set[Station] = set()
    waiting = [station]
    while waiting:
        outputs = set(waiting.pop().outputs)
        found = {other for other in plant.stations if outputs & set(other.inputs)} - reached
        reached |= found
        waiting += found
    return reached


def test_the_frozen_list_is_what_the_rule_gives() -> None:
    """Nobody chose a template by hand, and the list is the one that was published."""
    assert rule() == TEMPLATES
    assert make_templates.content() == published("templates.csv", TEMPLATES_SHA256)
    assert len(TEMPLATES) == 683
    assert hashlib.sha256("\n".join(each.name for each in TEMPLATES).encode()).hexdigest().startswith(LIST_DIGEST)


@pytest.mark.parametrize("axis", AXES)
def test_marginals_are_as_documented(axis: str) -> None:
    """The design is not orthogonal; whoever analyses it needs these weights."""
    counts = Counter(getattr(each, axis) for each in TEMPLATES)
    assert tuple(counts[level] for level in AXES[axis]) == MARGINALS[axis]


def test_the_rules_forbid_what_they_say() -> None:
    """One example a rule."""
    assert possible("parallel", "encoder", "ethercat", "jam")
    assert not possible("parallel", "encoder", "ethercat", "leak")  # an encoder sees no leak
    assert not possible("parallel", "encoder", "mqtt", "jam")  # edges are too fast for a broker
    assert not possible("inspection-split", "pressure", "opcua", "leak")
    assert not possible("hybrid", "rtd", "modbus-tcp", "overheat")
    assert not possible("serial", "rtd", "mqtt", "overheat")


def test_plants_never_change() -> None:
    """They are drawn from names by whole numbers: the same in every process, on every machine, in every order."""
    digests = "\n".join(each.plant().digest for each in TEMPLATES)
    assert hashlib.sha256(digests.encode()).hexdigest() == PLANTS_DIGEST
    assert len(set(digests.split())) == 683


def test_a_plant_is_drawn_from_its_name_alone() -> None:
    """A template that is not in the list changes none that is, and is itself well defined."""
    foreign = Template("serial", "encoder", "mqtt", "jam")
    assert foreign not in TEMPLATES
    assert foreign.plant().digest == Template("serial", "encoder", "mqtt", "jam").plant().digest
    assert TEMPLATES[0].plant() is template(TEMPLATES[0].name).plant()


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_lines_are_of_every_length_of_their_topology(topology: str) -> None:
    """From 8 to 24 stations, with no length left out."""
    assert {len(plant.stations) for plant in of(topology)} == set(STATIONS_OF[topology])


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_parts_find_their_way(topology: str) -> None:
    """From the source every station is reached, and from every station the sink."""
    for plant in of(topology):
        heads = [station for station in plant.stations if SOURCE in station.inputs]
        reached = set(heads).union(*(after(plant, head) for head in heads))
        assert len(reached) == len(plant.stations)
        for station in plant.stations:
            assert any(SINK in end.outputs for end in after(plant, station) | {station})


def test_each_topology_is_what_its_name_says() -> None:
    """Inspections, assemblies and doubled stages are where they belong, and nowhere else."""
    for each in TEMPLATES:
        plant = each.plant()
        assemblies = [station for station in plant.stations if len(station.inputs) == 2]
        inspections = [station for station in plant.stations if len(station.outputs) == 2]
        assert len(assemblies) == (each.topology in ("assembly-merge", "hybrid"))
        assert len(inspections) == (each.topology in ("inspection-split", "rework-loop", "hybrid"))
        assert sharing(plant) in {"parallel": (1, 2, 3), "hybrid": (1,)}.get(each.topology, (0,))
        assert plant.rework == (each.topology in ("rework-loop", "hybrid"))
        for inspection in inspections:
            assert (inspection in after(plant, inspection)) == plant.rework
            assert plant.split == (0.08 if plant.rework else 0.3)


def test_no_line_is_one_bottleneck() -> None:
    """Process times lie within 15 % of a takt of 3 to 6 ticks; a doubled stage takes twice that on each station."""
    for each in TEMPLATES:
        stations = each.plant().stations
        stages = Counter((station.inputs, station.outputs) for station in stations)
        cycles = [station.cycle // stages[station.inputs, station.outputs] for station in stations]
        assert min(cycles) >= 3 * 1024
        assert max(cycles) <= 6 * 1024
        assert max(cycles) / min(cycles) <= 1.16 / 0.84


def test_stations_stand_on_cells_of_their_own() -> None:
    """Two stations in one place would be one; and a technician must arrive before a shift is over."""
    for each in TEMPLATES:
        plant = each.plant()
        assert len({station.at for station in plant.stations}) == len(plant.stations)
        assert max(plant.travel(0, other) for other in range(len(plant.stations))) <= 30


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_travel_is_a_distance(topology: str) -> None:
    """Symmetric, nothing from a station to itself, no detour shorter: else a route planner earns from a mistake."""
    for plant in of(topology)[:20]:
        used = len(plant.stations)
        travel = plant.rows()[0][layout.T_TRAVEL :][: STATIONS * STATIONS].reshape(STATIONS, STATIONS)[:used, :used]
        assert (travel == travel.T).all()
        assert not travel.diagonal().any()
        assert (travel[:, None, :] <= travel[:, :, None] + travel[None, :, :]).all()


def test_parameters_lie_where_they_should() -> None:
    """Capacities, leads, temperatures and controllers, over all lines: within their ranges, and up to both ends."""
    plants = [each.plant() for each in TEMPLATES]

    def ends(values: list[float]) -> tuple[float, float]:
        return min(values), max(values)

    assert ends([capacity for plant in plants for capacity in plant.capacities]) == (2, 8)
    assert ends([lead for plant in plants for lead in plant.leads]) == (20, 120)
    assert ends([station.base for plant in plants for station in plant.stations]) == (40, 60)
    assert ends([station.plc for plant in plants for station in plant.stations]) == (118 / 128, 138 / 128)
    assert all(plant.fault == 3 / len(plant.stations) for plant in plants)
    assert 0.1 < ends([plant.nominal for plant in plants])[0] < ends([plant.nominal for plant in plants])[1] < 0.35


def test_faults_and_sensors_are_the_templates() -> None:
    """The dominant fault can appear, with a spare part more; the first channel is the primary sensor."""
    for each in TEMPLATES:
        plant = each.plant()
        assert plant.dominant.name == each.fault.upper().replace("-", "_")
        assert plant.stock[plant.dominant - 1] == 2
        assert sum(plant.stock) == 9
        assert (Fault.LEAK in plant.allowed) == (each.topology != "inspection-split")
        assert (Fault.SENSOR_DRIFT in plant.allowed) == (each.sensor != "encoder")
    primary = {each.sensor: each.plant().quantities[0] for each in TEMPLATES}
    assert primary == {
        "thermocouple": Quantity.TEMPERATURE,
        "rtd": Quantity.TEMPERATURE,
        "accelerometer": Quantity.VIBRATION,
        "current": Quantity.CURRENT,
        "pressure": Quantity.PRESSURE,
        "encoder": Quantity.SPEED,
    }


def test_rows_hold_whole_plants() -> None:
    """Nothing is cut off on its way into 32-bit integers, and nothing is left over in places without a station."""
    for each in TEMPLATES[::29]:
        whole, real = each.plant().rows()
        used = int(whole[layout.T_STATIONS])
        assert used == len(each.plant().stations)
        assert np.isfinite(real).all()
        assert real[layout.G_NOMINAL] == each.plant().nominal
        assert not real[used * layout.G_STRIDE : layout.G_LINE].any()


def test_names_find_their_templates() -> None:
    """And a name that is not one says which are near."""
    assert all(template(each.name) is each for each in TEMPLATES)
    with pytest.raises(UnknownTemplate, match=r"'serial/termocouple/profinet/bearing'; did you mean 'serial/thermocou"):
        template("serial/termocouple/profinet/bearing")
    with pytest.raises(UnknownTemplate, match="a name is topology/sensor/protocol/fault"):
        template("")


def test_lines_of_your_own_have_names_of_their_own() -> None:
    """Plants are shared by name within a batch: two lines under one name would become one."""
    first, second = (CustomTemplate("mine", each.plant()) for each in TEMPLATES[:2])
    assert first.name != second.name
    assert first.name.startswith("custom:mine:")
    assert first.plant() is TEMPLATES[0].plant()


def test_lines_that_share_three_axes_share_no_stations() -> None:
    """Otherwise a held-out template would be one of training with another label."""
    near = [
        (one.plant(), other.plant())
        for one, other in combinations(TEMPLATES[::3], 2)
        if sum(getattr(one, axis) == getattr(other, axis) for axis in AXES) == 3
    ]
    assert len(near) > 300
    for one, other in near:
        pairs = list(zip(one.stations, other.stations, strict=False))
        assert sum(a.cycle == b.cycle and a.base == b.base for a, b in pairs) <= len(pairs) // 8
