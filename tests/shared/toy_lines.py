"""Small lines whose course can be worked out on paper, and strategies that draw all sorts of lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from linegym import layout
from linegym.blueprint import Plant, Station
from linegym.perturbations import LoadPerturbation, NetworkPerturbation, Perturbations, SensorPerturbation
from linegym.plant import PARTS, SINK, SOURCE, Fault, Quantity
from linegym.reference import ReferenceLine, Rows
from linegym.templates import TEMPLATES, CustomTemplate
from linegym.variants import Variant

TICK = 1024
"""Process time that is one tick."""
NOOP = (0, 0, 0)
QUIET = Perturbations()
_T, _V, _I = Quantity.TEMPERATURE, Quantity.VIBRATION, Quantity.CURRENT
CHANNELS = ((_T, _V, _I), (_V, _T, _I), (_I, _T, _V), (Quantity.PRESSURE, _T, _I), (Quantity.SPEED, _V, _I))


def chain(cycles: Sequence[float], capacities: Sequence[int] = (), **rest: Any) -> Plant:
    """Return stations one after the other, with process times in ticks; without faults unless ``rest`` says so."""
    last = len(cycles) - 1
    stations = tuple(
        Station(
            cycle=int(cycle * TICK),
            inputs=(SOURCE if number == 0 else number,),
            outputs=(SINK if number == last else number + 1,),
            at=(number, 0),
        )
        for number, cycle in enumerate(cycles)
    )
    return Plant(stations, tuple(capacities), **{"fault": -1.0, **rest})


def line(
    plant: Plant, perturbations: Perturbations = QUIET, *, horizon: int = 100, target: float = 0.0, **rest: Any
) -> ReferenceLine:
    """Return the reference of a line of one's own; one that puts out nothing is paid as if a part a tick were usual."""
    whole, real = plant.rows()
    real[layout.G_NOMINAL] = real[layout.G_NOMINAL] or 1.0
    rows = Rows(whole.tolist(), real.tolist(), perturbations.row(target).tolist(), uid=rest.pop("uid", 1))
    return ReferenceLine(rows, horizon=horizon, **{"seed": 0, **rest})


@st.composite
def stages(draw: st.DrawFn) -> tuple[list[Station], int]:
    """Draw the stations of a line, and how many buffers there are between them.

    A chain, in which some stages are two stations side by side, or an assembly with a feeder of its own, or an
    inspection with a second output: back to an earlier buffer, or to a branch that ends in the sink.
    """
    stations: list[Station] = []
    buffers, before = 0, SOURCE

    def add(inputs: tuple[int, ...], outputs: tuple[int, ...]) -> None:
        cycle = draw(st.integers(TICK // 2, 6 * TICK))
        at = draw(st.tuples(st.integers(0, 8), st.integers(0, 8)))
        base, plc = draw(st.integers(320, 480)) / 8, draw(st.integers(118, 138)) / 128
        stations.append(Station(cycle, inputs, outputs, at, base, plc))

    length = draw(st.integers(1, 5))
    for number in range(length):
        kind = draw(st.sampled_from(["single", "single", "doubled", "assembly", "branch", "back"]))
        inputs: tuple[int, ...] = (before,)
        if kind == "assembly" and before != SOURCE:
            buffers += 1
            add((SOURCE,), (buffers,))
            inputs = (before, buffers)
        after = SINK
        if number < length - 1:
            buffers += 1
            after = buffers
        outputs: tuple[int, ...] = (after,)
        if kind == "back" and before != SOURCE:
            outputs = (after, before)
        branch = kind == "branch" and after != SINK
        if branch:
            buffers += 1
            outputs = (after, buffers)
        for _ in range(2 if kind == "doubled" else 1):
            add(inputs, outputs)
        if branch:
            add((outputs[1],), (SINK,))
        before = after
    return stations, buffers


def shares(*values: float) -> st.SearchStrategy[float]:
    return st.sampled_from(values)


@st.composite
def plants(draw: st.DrawFn) -> Plant:
    """Draw a line of any shape, with faults more frequent than the templates have."""
    stations, buffers = draw(stages())
    rework = any(len(station.outputs) == 2 and station.outputs[1] in station.inputs for station in stations)
    return Plant(
        stations=tuple(stations),
        capacities=tuple(draw(st.lists(st.integers(1, 8), min_size=buffers, max_size=buffers))),
        leads=tuple(draw(st.lists(st.integers(1, 120), min_size=PARTS, max_size=PARTS))),
        stock=tuple(draw(st.lists(st.integers(0, 3), min_size=PARTS, max_size=PARTS))),
        quantities=draw(st.sampled_from(CHANNELS)),
        dominant=Fault(draw(st.integers(1, 8))),
        fault=draw(shares(-1.0, 0.0, 0.3, 0.9)),
        noise=draw(shares(0.0, 0.5, 1.0)),
        spread=draw(shares(0.0, 0.1, 0.3)),
        split=draw(shares(0.0, 0.08, 0.3, 0.7)),
        minor=draw(shares(0.0, 0.004, 0.1)),
        clear=draw(shares(0.25, 1.0)),
        scrap=draw(shares(0.0, 0.01, 0.2)),
        rework=rework and draw(st.booleans()),
    )


def intensities() -> st.SearchStrategy[int]:
    return st.integers(0, 7)


def perturbations() -> st.SearchStrategy[Perturbations]:
    """Draw three families, each at an intensity of its own or switched off."""
    return st.builds(
        Perturbations,
        st.just(SensorPerturbation()) | st.builds(SensorPerturbation.at, intensities()),
        st.just(NetworkPerturbation()) | st.builds(NetworkPerturbation.at, intensities()),
        st.just(LoadPerturbation()) | st.builds(LoadPerturbation.at, intensities()),
    )


def variants() -> st.SearchStrategy[Variant]:
    """Draw one of the 683 templates, or a line of one's own, under any three intensities."""
    own = st.builds(CustomTemplate, st.just("drawn"), plants(), shares(0.7, 1.0, 1.3))
    templates = st.sampled_from(TEMPLATES) | own
    return st.builds(Variant, templates, intensities(), intensities(), intensities())


def without_noise(**changes: Any) -> Perturbations:
    """Return perturbations that are all off but the fields named, each by its family's field name."""
    families = {"sensor": QUIET.sensor, "network": QUIET.network, "load": QUIET.load}
    for name, family in families.items():
        own = {field: value for field, value in changes.items() if hasattr(family, field)}
        families[name] = replace(family, **own)  # type: ignore[type-var]
    return Perturbations(**families)  # type: ignore[arg-type]
