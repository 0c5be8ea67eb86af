"""The whole of it: a model of a million weights that acts in real terminals."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from file_tasks import tiny
from transformers import GPT2Config, GPT2LMHeadModel

from rolf_adapters.ppo.checkpoint import versions
from rolf_adapters.ppo.language.learner import LanguageLearner, build
from rolf_adapters.ppo.language.settings import (
    Environment,
    Policy,
    Reward,
    Rollout,
    Settings,
    Speech,
    Training,
    WarmStart,
)
from rolf_adapters.ppo.language.tiny import CHATML
from rolf_adapters.ppo.learner import Diverged, State

WARM = WarmStart(policy="termgym.policies.oracle:Oracle", episodes=8, epochs=6, batch=8, learning_rate=2e-3)


def settings(warm: WarmStart | None = WARM, layers: int | None = None, **rollout: Any) -> Settings:
    small = {"episodes": 6, "environments": 3, "turns": 2, "tokens": 20, "window": 256, "evaluation": 4}
    return Settings(
        environment=Environment(id="file_tasks:FileTasks-v0", evaluation={"part": "test"}),
        rollout=Rollout(**{**small, "speech": Speech(system=""), **rollout}),
        reward=Reward(limit_ends=True, per_turn=-0.02, malformed=-0.1),
        policy=Policy(model="file_tasks:tiny", layers=layers),
        training=Training(iterations=4, learning_rate=1e-3, minibatches=2, warm_start=warm),
    )


@pytest.fixture(name="learner")
def a_learner() -> Iterator[LanguageLearner]:
    made = LanguageLearner(settings(), *tiny(seed=4), seed=4)
    yield made
    made.close()


def measured(numbers: Any) -> dict[str, float]:
    """Return what must be the same in every run."""
    return {name: value for name, value in numbers.items() if not name.startswith("time/")}


def equal(one: State, other: State) -> bool:
    return (
        one.values == other.values
        and one.tensors.keys() == other.tensors.keys()
        and all(torch.equal(tensor, other.tensors[name]) for name, tensor in one.tensors.items())
    )


def test_an_iteration_keeps_to_what_holds_of_every_training(learner: LanguageLearner) -> None:
    """Before the first step the policy is the one that played: any other mask, shift or temperature shows here."""
    warm = learner.iterate(0)
    assert warm["own/warm_demonstrations"] == 8
    assert warm["own/warm_epochs"] == 6
    told = learner.iterate(1)
    assert abs(told["policy/first_kl"]) < 1e-5
    assert told["own/first_gap"] < 1e-4
    assert told["rollout/episodes"] == 6
    assert 6 <= told["rollout/steps"] <= 12
    assert told["rollout/faults"] == 0
    assert told["policy/steps"] == 4, "two epochs of two minibatches"
    assert told["policy/kl"] > 0, "and yet it has learned something"
    assert told["policy/learning_rate"] == pytest.approx(1e-3 / 5), "the warm start does not count as warming up"
    assert all(np.isfinite(value) for value in told.values())


@pytest.mark.slow
def test_a_training_that_was_interrupted_goes_on_bit_by_bit(learner: LanguageLearner) -> None:
    """What another process makes of the state is what this one would have made; an evaluation changes nothing."""
    for iteration in range(2):
        learner.iterate(iteration)
    kept = learner.state()
    learner.evaluate(1)
    assert equal(kept, learner.state())
    there = [measured(learner.iterate(2)), measured(learner.iterate(3))]
    other = build(settings(), seed=4)
    try:
        other.load(kept)
        assert equal(kept, other.state())
        assert [measured(other.iterate(2)), measured(other.iterate(3))] == there
        assert equal(learner.state(), other.state())
    finally:
        other.close()


def test_an_evaluation_tells_success_with_its_interval(learner: LanguageLearner) -> None:
    """On the same tasks each time, of the part that is held out."""
    told = learner.evaluate(0)
    assert 0 <= told["evaluation/success_low"] <= told["evaluation/success"] <= told["evaluation/success_high"] <= 1
    problems = learner.problems.held_out(4)
    assert problems == learner.problems.held_out(4)
    assert {problem.variant.kwargs["part"] for problem in problems} == {"test"}
    assert learner.successes(problems).mean() == told["evaluation/success"]
    assert any(name.startswith("family/") for name in told)


def test_a_state_of_something_else_is_refused(learner: LanguageLearner) -> None:
    """And nothing is changed by the attempt."""
    before = learner.state()
    with pytest.raises(ValueError, match="is of kind 'vector'"):
        learner.load(State({}, {"kind": "vector"}))
    tensors = {**before.tensors, "policy/critic.hidden.bias": torch.zeros(3)}
    with pytest.raises(ValueError, match=r"critic\.hidden\.bias has the shape \(3,\) there and \(64,\) here"):
        learner.load(State(tensors, before.values))
    part = LanguageLearner(settings(layers=2), *tiny(seed=4), seed=4)
    with pytest.raises(ValueError, match="the state is of another model"):
        learner.load(part.state())
    other = LanguageLearner(settings(layers=2), *tiny(seed=5), seed=4)
    with pytest.raises(ValueError, match="untrained weights are others"):
        other.load(part.state())
    assert equal(before, learner.state())


def test_a_state_of_other_words_is_refused(learner: LanguageLearner) -> None:
    """The same text would become other tokens than it has learned with; a state of before does not tell."""
    kept = learner.state()
    model, words = tiny(seed=4)
    other = copy.deepcopy(words)
    other.chat_template = CHATML.replace("<|im_start|>", "<|im_start|> ")
    changed = LanguageLearner(settings(), model, other, seed=4)
    before = changed.state()
    with pytest.raises(ValueError, match="of a tokenizer, or of a chat template, that is another one"):
        changed.load(kept)
    assert equal(before, changed.state())
    changed.load(State(kept.tensors, {name: each for name, each in kept.values.items() if name != "words"}))
    changed.close()


def test_versions_of_what_makes_tokens_are_kept() -> None:
    """Other ones may come to other bits, which is said when a training is resumed."""
    assert {"tokenizers", "llguidance", "transformers"} <= versions().keys()


def test_frozen_weights_are_no_part_of_the_state() -> None:
    """A checkpoint of a large model whose last layers learn is as large as those."""
    learner = LanguageLearner(settings(layers=1), *tiny(seed=4), seed=4)
    names = learner.state().tensors.keys()
    assert not any("embed_tokens" in name or "layers.2." in name for name in names)
    assert any("layers.3." in name for name in names)


@pytest.mark.parametrize("part", ["critic", "model"])
def test_a_model_that_has_gone_bad_is_told_as_diverged(part: str) -> None:
    """The loop goes back to a checkpoint; it must learn of it before anything is overwritten."""
    learner = LanguageLearner(settings(warm=None), *tiny(seed=4), seed=4)
    weight = learner.policy.critic.worth.bias if part == "critic" else learner.policy.model.model.norm.weight
    try:
        with torch.no_grad():
            weight.fill_(torch.nan)
        before = learner.state()
        with pytest.raises(Diverged, match="no finite numbers"):
            learner.iterate(0)
        after = learner.state().tensors
        assert all(
            torch.equal(tensor.nan_to_num(7), after[name].nan_to_num(7)) for name, tensor in before.tensors.items()
        )
    finally:
        learner.close()


def test_a_window_that_the_model_cannot_read_is_refused() -> None:
    """One with learned positions has no more of them, and would end an hour later at the first long context."""
    words = tiny(seed=4)[1]
    small = GPT2LMHeadModel(GPT2Config(vocab_size=len(words), n_positions=64, n_embd=32, n_layer=1, n_head=2))
    with pytest.raises(ValueError, match=r"rollout\.window=65 is longer than what GPT2LMHeadModel.* 16 to 64"):
        LanguageLearner(settings(warm=None, window=65), small, words)
    LanguageLearner(settings(warm=None, window=64), small, words).close()
    with pytest.raises(ValueError, match="tokens=64 leaves no room for a prompt in window=64"):
        settings(warm=None, window=64, tokens=64)


def test_a_model_is_named_in_a_configuration() -> None:
    """As ``module:function``; what is wrong with the name is said."""
    made = build(settings(warm=None), seed=9)
    made.close()
    wrong = settings(warm=None).model_copy(update={"policy": Policy(model="file_tasks:tinny")})
    with pytest.raises(ValueError, match=r"policy\.model='file_tasks:tinny'.*module:function"):
        build(wrong, seed=0)
    wrong = settings(warm=None).model_copy(update={"policy": Policy(model="file_tasks:words")})
    with pytest.raises((ValueError, TypeError)):
        build(wrong, seed=0)
