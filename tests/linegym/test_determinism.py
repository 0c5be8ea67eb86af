"""The promise that benchmarks lean on: same variant, seed and actions, same numbers, to the last bit, whoever plays."""

from __future__ import annotations

import json
from typing import Any, Literal

import numpy as np
import pytest
from golden_lines import FILE, ROWS, SEED, STEPS, measure, measure_rows
from line_traces import HORIZON, Line, Trace, chosen, standard, trace, trace_alone, trace_kernel

from linegym.actions import COMMANDS
from linegym.batch import Batch, RowState
from linegym.variants import split
from linegym.vector import LineVectorEnv

PLAYED = 100
"""Steps: a whole episode and the beginning of the next."""


def batch_of(lines: list[Line], **settings: Any) -> Batch:
    return Batch([line.variant for line in lines], horizon=HORIZON, **settings)


def recorded() -> dict[str, dict[str, str]]:
    return json.loads(FILE.read_text())  # type: ignore[no-any-return]


def moved(now: dict[str, str], then: dict[str, str]) -> list[str]:
    """Return the names of the digests that are not what they were."""
    return sorted(name for name in {*now, *then} if now.get(name) != then.get(name))


# ---- against the record


@pytest.mark.timeout(300)
@pytest.mark.parametrize("masked", [True, False])
def test_golden_digests_of_this_version_hold(masked: bool) -> None:
    """683 templates, three families, three intensities: a digest that moves is a new version, or a bug."""
    kind = "possible" if masked else "any"
    then = {name: digest for name, digest in recorded()["groups"].items() if name.endswith(kind)}
    assert len(then) == 18
    assert moved(measure(masked=masked), then) == []


def test_golden_episodes_of_this_version_hold() -> None:
    """A few lines one by one, so that others than the kernel can be held against the record too."""
    assert moved(measure_rows(), recorded()["episodes"]) == []


@pytest.mark.parametrize("reference", [True, False], ids=["reference", "environment"])
@pytest.mark.parametrize("masked", [True, False])
def test_reference_and_environment_give_the_golden_episodes(reference: bool, masked: bool) -> None:
    """The plant as it is written to be read, and the face that a user has, by themselves."""
    found: dict[str, str] = {}
    for line in standard(ROWS):
        found |= trace_alone(line, STEPS, masked=masked, reference=reference)
    kind = "possible" if masked else "any"
    then = {name.rpartition("/")[0]: digest for name, digest in recorded()["episodes"].items() if name.endswith(kind)}
    assert moved(found, then) == []


def test_what_is_recorded_has_faults_that_are_mended() -> None:
    """A record of lines to which nothing ever happens would prove nothing."""
    lines = standard(400)
    batch = batch_of(lines)
    trace(batch, {0: lines[0]}, HORIZON)
    faults, closed, wrong = batch.facts[:, [6, 8, 10]].sum(axis=0)
    assert faults > 400
    assert closed > 0
    assert wrong > 0


# ---- whatever the batch is like


@pytest.fixture(scope="module")
def alone() -> dict[str, str]:
    """Return the digests of 64 lines, each played in a batch of its own."""
    found: dict[str, str] = {}
    for line in standard(64):
        found |= trace_kernel([line], PLAYED)
    return found


@pytest.mark.parametrize(
    ("size", "threads"),
    [(64, 1), (7000, 1), (512, 2), pytest.param(7000, 2, marks=[pytest.mark.nightly, pytest.mark.timeout(600)])],
)
def test_size_place_neighbours_and_threads_do_not_matter(alone: dict[str, str], size: int, threads: int) -> None:
    """64 lines scattered over a batch of others, in another order each time."""
    lines = standard(64)
    places = np.random.default_rng(size + threads).permutation(size)[:64]
    variants = [split("train")[-1 - number] for number in range(size)]
    for line, place in zip(lines, places, strict=True):
        variants[place] = line.variant
    batch = Batch(variants, horizon=HORIZON, threads=threads)
    assert moved(trace(batch, dict(zip(places.tolist(), lines, strict=True)), PLAYED), alone) == []


@pytest.mark.nightly
@pytest.mark.timeout(600)
@pytest.mark.parametrize("masked", [True, False])
def test_golden_digests_hold_on_two_threads(masked: bool) -> None:
    """All 6 147 lines at once, each by whichever thread comes to it."""
    kind = "possible" if masked else "any"
    then = {name: digest for name, digest in recorded()["groups"].items() if name.endswith(kind)}
    assert moved(measure(masked=masked, threads=2), then) == []


@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
def test_autoreset_modes_give_the_same_episodes(
    alone: dict[str, str], mode: Literal["next_step", "same_step", "disabled"]
) -> None:
    """The mode says when the next episode begins, not what happens in it."""
    steps = PLAYED if mode == "next_step" else PLAYED - 1  # one step of these begins an episode
    found = trace(batch_of(standard(64), autoreset=mode), dict(enumerate(standard(64))), steps)
    assert moved(found, alone) == []


def test_rows_of_a_vector_environment_are_rows_of_a_batch() -> None:
    """The face adds nothing and takes nothing away."""
    lines = standard(16)
    envs = LineVectorEnv(16, [line.variant for line in lines], horizon=HORIZON)
    batch = batch_of(lines)
    names = np.array([line.name for line in lines])
    seen, infos = envs.reset(seed=[line.seed for line in lines])
    batch.reset(np.array([line.seed for line in lines], np.uint64))
    for _ in range(PLAYED):
        assert isinstance(seen, np.ndarray)
        assert seen.tobytes() == batch.observations.tobytes()
        assert (infos["action_mask"] == batch.masks).all()
        actions = chosen(names, batch.facts[:, 0], batch.facts[:, 1], batch.masks)
        seen, rewards, _, truncated, infos = envs.step(actions)
        batch.step(COMMANDS[actions][:, None])
        assert rewards.tobytes() == batch.rewards.tobytes()
        assert (truncated == batch.truncated).all()
    assert batch.facts[:, 0].tolist() == [1] * 16


def test_ten_ticks_in_a_step_are_ten_steps() -> None:
    """The command falls into the first tick; then nothing is done."""
    lines = standard(32)
    names, seeds = np.array([line.name for line in lines]), np.array([line.seed for line in lines], np.uint64)
    coarse = Batch([line.variant for line in lines], horizon=300, ticks_per_step=10)
    fine = Batch([line.variant for line in lines], horizon=300)
    for batch in (coarse, fine):
        batch.reset(seeds)
    for _ in range(30):
        actions = chosen(names, coarse.facts[:, 0], coarse.facts[:, 1], coarse.masks)
        coarse.step(COMMANDS[actions][:, None])
        rewards = np.zeros(len(lines))
        for tick in range(10):
            fine.step(COMMANDS[actions if tick == 0 else np.zeros_like(actions)][:, None])
            rewards = rewards + fine.rewards
        assert coarse.rewards.tobytes() == rewards.tobytes()
        assert coarse.observations.tobytes() == fine.observations.tobytes()
        assert [coarse.save(row) for row in range(32)] == [fine.save(row) for row in range(32)]
    assert coarse.truncated.all()


@pytest.mark.parametrize("moment", [1, 17, HORIZON, HORIZON + 1])
def test_a_saved_line_goes_on_elsewhere_as_it_would_have(alone: dict[str, str], moment: int) -> None:
    """In the middle, at the end and at the beginning of an episode; in another row, among others."""
    lines = standard(64)
    first = batch_of(lines)
    traces = {line.name: Trace(line.name) for line in lines}
    trace(first, dict(enumerate(lines)), moment, traces=traces)
    saved: list[RowState] = [first.save(row) for row in range(64)]
    second = Batch([split("train")[-1 - row] for row in range(80)], horizon=HORIZON)
    second.reset(np.full(80, SEED, np.uint64))
    places = {79 - row: line for row, line in enumerate(lines)}
    for row, state in enumerate(saved):
        second.restore(79 - row, state)
    found = trace(second, places, PLAYED - moment, begun=True, traces=traces)
    assert moved(found, alone) == []
