"""What holds for every line, every disturbance and every command: parts are not lost, and the mask tells the truth."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_lines import chain, line, perturbations, plants
from toy_policies import masked

from linegym import layout
from linegym.blueprint import Plant
from linegym.perturbations import Perturbations
from linegym.plant import ACTIONS, SINK, SOURCE, Crew, Order
from linegym.reference import ReferenceLine
from linegym.reference.mask import COMMANDS

LINES = st.builds(
    line,
    plants(),
    perturbations(),
    horizon=st.integers(1, 150),
    seed=st.integers(0, 2**64 - 1),
    uid=st.integers(0, 2**64 - 1),
)
SEEDS = st.integers(0, 2**32 - 1)


def shift(plant: ReferenceLine, seed: int) -> Iterator[None]:
    """Run a line to the end of its shift with possible commands, and stop after every tick."""
    chance = Random(seed)
    while not plant.ledger.over:
        plant.step([masked(plant, chance)])
        yield


def inside(plant: ReferenceLine) -> int:
    """Return the raw parts that are in the line; what an assembly joined still counts as all that went into it."""
    return sum(buffer.parts for buffer in plant.floor.buffers[SOURCE + 1 : SINK]) + sum(
        station.machine.work != 0 for station in plant.stations
    )


@settings(max_examples=25, deadline=None)
@given(LINES, SEEDS)
def test_no_part_is_lost_and_none_appears(plant: ReferenceLine, seed: int) -> None:
    """In = out + scrap + inside, and one less for every joining of two."""
    joined = 0
    assemblies = [station.machine for station in plant.stations if len(station.machine.inputs) == 2]
    for _ in shift(plant, seed):
        joined += sum(machine.work == 1 and machine.loaded == plant.t - 1 for machine in assemblies)
        taken = plant.floor.source.taken
        assert taken == plant.ledger.output + plant.floor.scrap + inside(plant) + joined


@settings(max_examples=25, deadline=None)
@given(LINES, SEEDS)
def test_everything_stays_within_its_bounds(plant: ReferenceLine, seed: int) -> None:
    """Buffers, timers, severities, stocks; and everything fits the kernel's 16 and 32 bits."""
    for _ in shift(plant, seed):
        assert all(0 <= buffer.parts <= buffer.capacity for buffer in plant.floor.buffers[SOURCE + 1 : SINK])
        assert plant.floor.sink.parts == 0
        assert all(0 <= station.wear.severity <= 1 for station in plant.stations)
        assert all(0 <= shelf.stock <= 100 for shelf in plant.store.shelves)
        assert all(0 <= switch.backlog <= 64 for switch in plant.switches)
        assert all(technician.timer >= 0 for technician in plant.crew)
        assert np.isfinite(plant.observation()).all()
        plant.state_rows()  # numpy refuses integers that do not fit


@settings(max_examples=25, deadline=None)
@given(LINES, SEEDS)
def test_crew_and_work_orders_agree(plant: ReferenceLine, seed: int) -> None:
    """Who travels or repairs is on exactly one order, and every such order has somebody."""
    for _ in shift(plant, seed):
        sent = {
            technician.number: technician.to
            for technician in plant.crew
            if technician.state in (Crew.TO_REPAIR, Crew.REPAIR)
        }
        ordered = {
            station.order.technician: station.number
            for station in plant.stations
            if station.order.state in (Order.TRAVEL, Order.REPAIR)
        }
        assert sent == ordered


@settings(max_examples=25, deadline=None)
@given(LINES, SEEDS, st.integers(0, 150))
def test_the_mask_tells_the_truth(plant: ReferenceLine, seed: int, ticks: int) -> None:
    """At any moment, a command is refused exactly when its bit is 0: tried on copies of the same moment."""
    for _, _ in zip(range(ticks), shift(plant, seed), strict=False):
        pass
    if plant.ledger.over:
        plant.reset()
    mask = plant.mask()
    for action in np.random.default_rng(seed).choice(ACTIONS, 25, replace=False):
        tried = deepcopy(plant)
        tried.step([COMMANDS[action]])
        assert tried.ledger.invalid != mask[action], COMMANDS[action]


@settings(max_examples=6, deadline=None)
@given(plants(), perturbations(), st.integers(0, 2**64 - 1), SEEDS)
def test_an_episode_is_a_function_of_variant_seed_and_number(
    plant: Plant, laws: Perturbations, seed: int, policy: int
) -> None:
    """The same three, the same state in every bit; and what was done in another episode is forgotten."""
    runs = []
    for episode, evaluation in ((0, False), (0, False), (1, False), (0, True)):
        reference = line(plant, laws, horizon=40, seed=seed, episode=episode, evaluation=evaluation)
        for again in range(2):
            for _ in shift(reference, policy):
                pass
            runs.append((episode, evaluation, b"".join(row.tobytes() for row in reference.state_rows())))
            if not again:
                reference.reset()
    assert len(set(runs)) == 3


def test_the_rows_have_the_layouts_lengths() -> None:
    short, whole, real = line(chain([1])).state_rows()
    assert (len(short), len(whole), len(real)) == (layout.H_ROW, layout.I_ROW, layout.F_ROW)
