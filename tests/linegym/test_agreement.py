"""The compiled kernel and the readable reference are the same plant, in every bit of the state, after every tick."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from toy_lines import variants
from toy_policies import POLICIES, Policy, keeper, mixed

from linegym import layout
from linegym.batch import Batch
from linegym.plant import STATIONS
from linegym.reference import ReferenceLine
from linegym.templates import TEMPLATES
from linegym.topologies import TOPOLOGIES
from linegym.variants import Variant

WORDS = st.integers(0, 2**64 - 1)
FORMS = (("H", np.int16, layout.H_STRIDE), ("I", np.int32, layout.I_STRIDE), ("F", np.float32, layout.F_STRIDE))


def place(form: str, stride: int, index: int) -> str:
    """Return the name of a number in a row of the state, as ``layout`` has it."""
    names = {
        name: start for name, start in vars(layout).items() if name.startswith(f"{form}_") and isinstance(start, int)
    }
    if index < STATIONS * stride:
        station, field = divmod(index, stride)
        name, start = max(((n, s) for n, s in names.items() if s <= field and s < stride), key=lambda item: item[1])
        return f"station {station} {name}+{field - start}"
    name, start = max(((n, s) for n, s in names.items() if s <= index), key=lambda item: item[1])
    return f"{name}+{index - start}"


def bits(array: NDArray[np.generic]) -> NDArray[np.generic]:
    """Return the array so that two are equal only when they are in every bit; -0.0 is not 0.0, NaN is itself."""
    return array.view(np.int32) if array.dtype == np.float32 else array


def unlike(name: str, ours: NDArray[np.generic], theirs: NDArray[np.generic], stride: int = 0) -> list[str]:
    """Return where two rows differ, named."""
    differ = np.flatnonzero(bits(ours) != bits(theirs))
    return [
        f"{place(name, stride, int(i)) if stride else f'{name} {i}'}: reference {ours[i]!r}, kernel {theirs[i]!r}"
        for i in differ
    ]


def compare(reference: ReferenceLine, batch: Batch, row: int, reward: float | None = None) -> None:
    """Hold everything that the kernel has against the reference."""
    state = batch.save(row)
    stored = (state.short, state.whole, state.real)
    wrong = []
    for (form, kind, stride), ours, theirs in zip(FORMS, reference.state_rows(), stored, strict=True):
        wrong += unlike(form, ours, np.frombuffer(theirs, kind), stride)
    wrong += unlike("observation", reference.observation(), batch.observations[row])
    wrong += unlike("mask", reference.mask(), batch.masks[row])
    facts = dict(zip(layout.FACTS, batch.facts[row].tolist(), strict=True))
    wrong += [f"{name}: {ours} {facts[name]}" for name, ours in reference.facts().items() if ours != facts[name]]
    if reward is not None and reward != batch.rewards[row]:
        wrong.append(f"reward: reference {reward!r}, kernel {batch.rewards[row]!r}")
    assert not wrong, f"after tick {reference.t}:\n" + "\n".join(wrong[:20])


def agree(
    chosen: Sequence[Variant],
    seeds: Sequence[int],
    policies: Sequence[Policy],
    horizon: int,
    commands: int,
    evaluation: bool,
) -> list[ReferenceLine]:
    """Run a shift in both, one row a variant, and compare after every tick; return the references at its end."""
    batch = Batch(chosen, horizon=horizon, autoreset="disabled", commands=commands, evaluation=evaluation)
    batch.reset(np.array(seeds, np.uint64))
    references = [
        ReferenceLine(variant, horizon=horizon, seed=seed, evaluation=evaluation)
        for variant, seed in zip(chosen, seeds, strict=True)
    ]
    for row, reference in enumerate(references):
        compare(reference, batch, row)
    chance = Random(seeds[0])
    for _ in range(horizon):
        asked = [
            [policy(reference, chance) for _ in range(commands)]
            for policy, reference in zip(policies, references, strict=True)
        ]
        batch.step(np.array(asked, np.int32))
        for row, reference in enumerate(references):
            compare(reference, batch, row, reference.step(asked[row]))
    return references


def drawn(examples: int, horizons: Sequence[int]):  # type: ignore[no-untyped-def]  # a decorator of hypothesis
    """Return what runs a test on lines of any kind, any disturbance, any policy."""

    def decorate(test):  # type: ignore[no-untyped-def]
        given_all = given(
            variants(),
            WORDS,
            st.sampled_from(POLICIES),
            st.sampled_from(horizons),
            st.sampled_from([1, 3]),
            st.booleans(),
        )
        limits = settings(max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.too_slow])
        return pytest.mark.timeout(3600)(limits(given_all(test)))

    return decorate


@drawn(examples=120, horizons=(1, 60, 60, 150))
def test_kernel_and_reference_agree(
    variant: Variant, seed: int, policy: Policy, horizon: int, commands: int, evaluation: bool
) -> None:
    """On lines that nobody designed, under any disturbance, whatever is done to them."""
    agree([variant], [seed], [policy], horizon, commands, evaluation)


@pytest.mark.nightly
@drawn(examples=1500, horizons=(60, 150, 600, 1500))
def test_kernel_and_reference_agree_for_long(
    variant: Variant, seed: int, policy: Policy, horizon: int, commands: int, evaluation: bool
) -> None:
    """The same for hundreds of thousands of ticks."""
    agree([variant], [seed], [policy], horizon, commands, evaluation)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("topology", sorted(TOPOLOGIES))
def test_whole_shifts_agree(topology: str) -> None:
    """An hour of the benchmark's own lines in the hands of somebody who mends them: every branch of the work orders."""
    chance = Random(topology)
    own = [template for template in TEMPLATES if template.topology == topology]
    chosen = [Variant(chance.choice(own), *(chance.randint(0, 5) for _ in range(3))) for _ in range(2)]
    seeds = [chance.getrandbits(64) for _ in chosen]
    ended = agree(chosen, seeds, [keeper, mixed], horizon=600, commands=1, evaluation=False)
    assert all(reference.ledger.faults for reference in ended)
    assert sum(reference.ledger.closed for reference in ended) > 0


def test_the_next_episode_agrees() -> None:
    """The kernel's autoreset leads into the episode that the reference has under the next number."""
    variant = Variant(TEMPLATES[0], 3, 3, 3)
    batch = Batch([variant], horizon=20, autoreset="same_step")
    batch.reset(np.array([7], np.uint64))
    for episode in range(1, 4):
        for _ in range(20):
            batch.step(np.zeros((1, 1, 3), np.int32))
        reference = ReferenceLine(variant, horizon=20, seed=7, episode=episode)
        ours, theirs = reference.state_rows(), batch.save(0)
        assert [row.tobytes() for row in ours] == [theirs.short, theirs.whole, theirs.real]
        assert (reference.observation() == batch.observations[0]).all()
