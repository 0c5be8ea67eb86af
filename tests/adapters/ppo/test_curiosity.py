"""Curiosity pays for what is new, gets used to it, and goes on where it stopped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from shared_curiosity import learned
from together import torchrun
from torch import Tensor

from rolf_adapters.ppo.curiosity import Curiosity
from rolf_adapters.ppo.learner import Diverged, State


def places(seed: int, at: float, count: int = 256) -> Tensor:
    """Observations near a place."""
    return at + 0.1 * torch.randn(count, 6, generator=torch.Generator().manual_seed(seed))


def used_to(curiosity: Curiosity, at: float, times: int) -> None:
    for number in range(times):
        curiosity.learn(places(number, at))


def test_what_is_new_is_paid_more_than_what_is_known() -> None:
    """After many visits to one place another one is paid at least five times as much."""
    curiosity = Curiosity(6, seed=1)
    used_to(curiosity, 0.0, 60)
    known, new = curiosity.reward(places(99, 0.0)), curiosity.reward(places(99, 1.0))
    assert (known >= 0).all()
    assert float(new.mean()) > 5 * float(known.mean())
    used_to(curiosity, 1.0, 60)
    assert float(curiosity.reward(places(99, 1.0)).mean()) < 0.2 * float(new.mean())


def test_the_reward_is_weighed_by_the_deviation_of_novelty() -> None:
    """Twice the weight pays twice as much, and what is paid varies by about the weight."""
    single, double = Curiosity(6, seed=1, weight=0.02), Curiosity(6, seed=1, weight=0.04)
    mixed = torch.cat([places(number, at) for number, at in enumerate((-0.1, 0.0, 0.1))])
    assert single.reward(mixed).tolist() == [0.0] * len(mixed)
    for each in (single, double):
        each.learn(mixed)
    paid = single.reward(mixed)
    torch.testing.assert_close(double.reward(mixed), 2 * paid)
    assert float(paid.std()) == pytest.approx(0.02, rel=0.4)


def test_paying_changes_nothing() -> None:
    curiosity = Curiosity(6, seed=2)
    curiosity.learn(places(0, 0.0))
    first = curiosity.reward(places(1, 0.5))
    assert curiosity.reward(places(1, 0.5)).tolist() == first.tolist()
    # What lies beside it has no effect but on how a processor rounds.
    torch.testing.assert_close(curiosity.reward(places(1, 0.5)[:7]), first[:7], rtol=1e-5, atol=1e-8)


def test_masked_observations_have_no_effect() -> None:
    one, other = Curiosity(6, seed=3), Curiosity(6, seed=3)
    seen = places(0, 0.0, 20)
    mask = torch.arange(20) % 3 != 0
    one.learn(seen[mask])
    seen[~mask] = float("nan")
    other.learn(seen, mask)
    assert one.reward(places(1, 1.0)).tolist() == other.reward(places(1, 1.0)).tolist()


def test_it_draws_from_no_generator_but_its_own() -> None:
    """Making it and learning leave torch's own generator alone; the same seed makes the same, another another."""
    torch.manual_seed(5)
    before = torch.get_rng_state()
    made = [Curiosity(6, seed=seed) for seed in (4, 4, 5)]
    for each in made:
        each.learn(places(0, 0.0))
    assert torch.equal(torch.get_rng_state(), before)
    paid = [each.reward(places(1, 1.0)).tolist() for each in made]
    assert paid[0] == paid[1] != paid[2]


def test_it_goes_on_where_it_stopped_bit_by_bit() -> None:
    """Even in one of another seed, for its target is a part of the state; but for the order it draws, which is the
    seed's."""
    first, second = Curiosity(6, seed=6), Curiosity(6, seed=6)
    used_to(first, 0.0, 3)
    kept = first.state()
    second.load(State(kept.tensors, json.loads(json.dumps(kept.values))))
    for each in (first, second):
        used_to(each, 0.3, 3)
    assert second.reward(places(1, 1.0)).tolist() == first.reward(places(1, 1.0)).tolist()
    assert {name: each.tolist() for name, each in first.state().tensors.items()} == {
        name: each.tolist() for name, each in second.state().tensors.items()
    }
    other = Curiosity(6, seed=7)
    other.load(first.state())
    assert other.reward(places(1, 1.0)).tolist() == first.reward(places(1, 1.0)).tolist()


def test_the_state_is_a_copy() -> None:
    curiosity = Curiosity(6, seed=8)
    curiosity.learn(places(0, 0.0))
    kept = curiosity.state()
    before = {name: each.clone() for name, each in kept.tensors.items()}
    curiosity.learn(places(1, 0.0))
    assert all(torch.equal(kept.tensors[name], each) for name, each in before.items())


def test_a_state_of_another_shape_is_refused_and_changes_nothing() -> None:
    curiosity = Curiosity(6, seed=9)
    used_to(curiosity, 0.0, 2)
    before = curiosity.reward(places(1, 1.0)).tolist()
    with pytest.raises(ValueError, match=r"the state is of another curiosity: predictor/0\.weight"):
        curiosity.load(Curiosity(5, seed=9).state())
    assert curiosity.reward(places(1, 1.0)).tolist() == before


def test_what_is_no_number_is_no_lesson() -> None:
    curiosity = Curiosity(6, seed=10)
    used_to(curiosity, 0.0, 2)
    before = curiosity.reward(places(1, 1.0)).tolist()
    spoilt = places(0, 0.0)
    spoilt[3, 2] = float("nan")
    with pytest.raises(Diverged, match="no finite number"):
        curiosity.learn(spoilt)
    assert curiosity.reward(places(1, 1.0)).tolist() == before


@pytest.mark.slow
def test_two_processes_get_used_to_what_both_have_seen(tmp_path: Path) -> None:
    """They come to the same state, that of one process which has seen all, and none goes on where one has failed."""
    first, second = torchrun(2, "shared_curiosity.py", tmp_path)
    assert first == second
    alone = learned()
    assert first["went_on"] is alone["went_on"] is False
    for part in ("tensors", "values"):
        for got, expected in zip(flattened(first[part]), flattened(alone[part]), strict=True):
            assert got == pytest.approx(expected, rel=1e-3, abs=1e-5)


def flattened(value: Any) -> list[float]:
    """Return all numbers of nested lists and objects."""
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value)]
    return [number for each in value for number in flattened(each)] if isinstance(value, list) else [value]
