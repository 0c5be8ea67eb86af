"""The policy is kept near the one that it was after the warm start, as strongly as is said or needed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch
from few_tokens import by_hand, policy, sample
from file_tasks import tiny

from rolf_adapters.ppo.control import adapted
from rolf_adapters.ppo.language.learner import LanguageLearner
from rolf_adapters.ppo.language.reference import Reference, apart
from rolf_adapters.ppo.language.settings import (
    Environment,
    KlControl,
    Policy,
    Reward,
    Rollout,
    Settings,
    Speech,
    Training,
    WarmStart,
)
from rolf_adapters.ppo.language.twin import twin
from rolf_adapters.ppo.language.update import updated
from rolf_adapters.ppo.learner import State


def settings(kl: KlControl, warm: WarmStart | None = None, **training: Any) -> Settings:
    return Settings(
        environment=Environment(id="file_tasks:FileTasks-v0", evaluation={"part": "test"}),
        rollout=Rollout(episodes=4, environments=2, turns=2, tokens=12, window=256, speech=Speech(system="")),
        reward=Reward(limit_ends=True, per_turn=-0.02),
        policy=Policy(model="file_tasks:tiny", layers=1),
        training=Training(iterations=4, learning_rate=3e-3, warmup=0, warm_start=warm, kl=kl, **training),
    )


def learner(kl: KlControl, **more: Any) -> LanguageLearner:
    return LanguageLearner(settings(kl, **more), *tiny(seed=4), seed=4)


def test_divergence_is_worked_out_over_the_chosen_tokens() -> None:
    """k3 of three tokens that the policy finds twice, half and just as likely as its reference does."""
    speaker = policy()
    now = by_hand(speaker)
    (beside,) = Reference(speaker, KlControl(weight=1.0)).beside([sample(now)], 100)
    assert beside.reference is not None
    assert beside.reference.tolist() == pytest.approx(now, abs=1e-4)
    assert apart([beside]) == pytest.approx(0, abs=1e-7)
    logps = np.array([now[0] + math.log(2), now[1] - math.log(2), now[2]], np.float32)
    by_k3 = [(0.5 - 1 + math.log(2)), (2 - 1 - math.log(2)), 0.0]
    assert apart([beside._replace(logps=logps)]) == pytest.approx(sum(by_k3) / 3, abs=1e-4)
    assert apart([]) == 0.0


def test_the_loss_draws_the_policy_to_its_reference() -> None:
    """Without any advantage that is all that moves it; without a weight nothing does."""
    moved = []
    for weight in (0.0, 3.0):
        speaker = policy()
        now = by_hand(speaker)
        each = sample(now, (0.0, 0.0, 0.0))._replace(reference=np.array(now, np.float32) + 1.0)
        optimiser = torch.optim.SGD([each for _, each in speaker.trained()], lr=0.05)
        training = Training(iterations=1, epochs=4, most_kl=9.0, normalise="none", kl=KlControl(weight=weight))
        updated(speaker, optimiser, [each], training, seed=0, iteration=0)
        moved.append(np.array(by_hand(speaker)) - now)
    assert np.abs(moved[0]).max() < 1e-5
    assert moved[1].min() > 0, "the reference finds every token likelier"


def test_the_reference_is_the_policy_after_the_warm_start() -> None:
    """What it was before that is nothing to be kept near to."""
    warm = WarmStart(policy="termgym.policies.oracle:Oracle", episodes=4, epochs=2, batch=4)
    made = learner(KlControl(weight=0.1), warm=warm)
    try:
        before = made.state().tensors
        made.iterate(0)
        state = made.state()
        told = made.iterate(1)
        after = made.state().tensors
    finally:
        made.close()
    assert told["policy/reference_kl"] == pytest.approx(0, abs=1e-6)
    names = [name for name in state.tensors if name.startswith("reference/")]
    assert names
    assert not any("critic" in name or "layers.2." in name for name in names), "of trained weights of the model alone"
    for name in names:
        there = name.replace("reference/", "policy/")
        assert torch.equal(state.tensors[name], state.tensors[there])
        assert torch.equal(state.tensors[name], after[name]), "it does not learn"
    assert any(not torch.equal(before[name], state.tensors[name]) for name in names)


def lasting(told: Mapping[str, float]) -> dict[str, float]:
    """Return all but the times."""
    return {name: value for name, value in told.items() if not name.startswith("time/")}


def test_the_weight_follows_a_target_and_is_kept() -> None:
    """By the divergence that was measured, iteration by iteration; a resumed training goes on with it, bit by bit."""
    control = KlControl(weight=0.5, target=1e-4)
    made, other = learner(control), learner(control)
    try:
        told = [made.iterate(iteration) for iteration in range(2)]
        kept = made.state()
        told += [made.iterate(iteration) for iteration in range(2, 4)]
        other.load(kept)
        again = [other.iterate(iteration) for iteration in range(2, 4)]
        one, two = made.state(), other.state()
    finally:
        made.close()
        other.close()
    weight = 0.5
    for each in told:
        assert each["policy/kl_weight"] == weight
        weight = adapted(weight, each["policy/reference_kl"], 1e-4)
    assert told[0]["policy/reference_kl"] == pytest.approx(0, abs=1e-6)
    assert told[3]["policy/reference_kl"] > 1e-4
    assert weight != 0.5
    assert list(map(lasting, told[2:])) == list(map(lasting, again))
    assert one.values == two.values
    assert all(torch.equal(each, two.tensors[name]) for name, each in one.tensors.items())


def test_a_state_without_a_reference_is_refused() -> None:
    """And nothing is changed by the attempt."""
    made, without = learner(KlControl(weight=0.5)), learner(KlControl())
    try:
        assert not any(name.startswith("reference/") for name in without.state().tensors)
        with pytest.raises(ValueError, match=r"holds 0 tensors of a reference.*training\.kl"):
            made.load(State(without.state().tensors, {**without.state().values, "version": 7}))
        assert made.state().values["version"] == 0
    finally:
        made.close()
        without.close()


def test_a_target_needs_a_weight_to_begin_with() -> None:
    """It is multiplied, and nothing comes of nothing."""
    with pytest.raises(ValueError, match=r"target=0\.1 needs a weight above 0"):
        KlControl(target=0.1)


def test_a_twin_shares_what_is_never_trained_and_nothing_else() -> None:
    """It says the same, and goes on saying it while the other learns."""
    made = learner(KlControl())
    first = made.policy
    made.close()
    second = twin(first)
    ids = torch.tensor([[5, 9, 14, 3]])
    with torch.no_grad():
        before = first.logits(first.read(ids).hidden)
        assert torch.equal(before, second.logits(second.read(ids).hidden))
        for _, each in first.trained():
            each.add_(0.01)
        assert torch.equal(before, second.logits(second.read(ids).hidden))
    there = dict(second.named_parameters())
    for name, each in first.named_parameters():
        assert (there[name].data_ptr() == each.data_ptr()) == (not each.requires_grad), name
