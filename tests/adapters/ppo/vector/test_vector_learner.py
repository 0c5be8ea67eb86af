"""The vector learner learns what can be learned in seconds, and goes on after a break as if there had been none."""

from __future__ import annotations

import copy
import re
from typing import Any, ClassVar

import gymnasium
import numpy as np
import pytest
import torch
from guessing_world import ID
from gymnasium.spaces import Box, Discrete
from gymnasium.vector import AutoresetMode, VectorEnv
from learner_states import same

from rolf.evaluation.errors import PolicyError
from rolf_adapters.ppo.learner import Diverged, State
from rolf_adapters.ppo.vector.learner import VectorLearner, build
from rolf_adapters.ppo.vector.settings import (
    Distillation,
    Environment,
    Imitation,
    Policy,
    Reward,
    Rollout,
    Settings,
    Training,
)

LINE, NAMED = "linegym:LineEnv-v1", "rolf-test/Named-v0"


class Named(VectorEnv[Any, Any, Any]):
    """Plays the variants that it is asked for, and tells which as an episode begins alone; four steps long."""

    metadata: ClassVar[dict[str, Any]] = {"autoreset_mode": AutoresetMode.DISABLED}

    def __init__(self, num_envs: int, autoreset_mode: AutoresetMode) -> None:
        assert autoreset_mode is AutoresetMode.DISABLED
        self.num_envs = num_envs
        self.single_observation_space, self.single_action_space = Box(0, 1, (2,), np.float32), Discrete(2)
        self._variants = np.full(num_envs, "a", dtype=object)
        self._steps = np.zeros(num_envs, np.int64)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        options = options or {}
        self._variants = np.array(options.get("variants", self._variants), dtype=object)
        rows = options.get("reset_mask", np.ones(self.num_envs, np.bool_))
        self._steps[rows] = 0
        return self._seen(), {"variant_id": self._variants.copy(), "_variant_id": rows}

    def step(self, actions: Any) -> Any:
        self._steps += 1
        return self._seen(), actions.astype(np.float64), self._steps < 0, self._steps == 4, {}

    def _seen(self) -> Any:
        return np.stack([self._steps / 4, self._variants == "b"], axis=1).astype(np.float32)


gymnasium.register(NAMED, vector_entry_point=Named)


def cart_pole(**more: Any) -> Settings:
    return Settings(
        environment=Environment(id="CartPole-v1"),
        rollout=Rollout(rows=16, steps=128, statistics=256, evaluation_rows=16),
        reward=Reward(discount=0.98, trace=0.9),
        training=Training(iterations=30, learning_rate=2.5e-3, epochs=6, clips=0.2, entropy=0.0),
    )


def guessing(parts: bool = True, rate: float = 5e-3, **more: Any) -> Settings:
    return Settings(
        environment=Environment(id=ID, kwargs={"parts": parts, **more}),
        rollout=Rollout(rows=8, steps=32, statistics=64, evaluation_rows=8),
        reward=Reward(curiosity=0.02),
        training=Training(iterations=30, learning_rate=rate, entropy=0.0),
    )


def line(**imitation: Any) -> Settings:
    return Settings(
        environment=Environment(id=LINE, kwargs={"max_episode_steps": 20, "ticks_per_step": 3}, split="line-v1/fit"),
        rollout=Rollout(rows=4, steps=20, statistics=20, evaluation_rows=2, sampler="ucb"),
        policy=Policy(width=16, layout="line", period=20.0),
        training=Training(iterations=4, imitation=Imitation(**imitation)),
    )


@pytest.fixture
def opened() -> Any:
    made: list[VectorLearner] = []

    def make(settings: Settings, seed: int = 0) -> VectorLearner:
        made.append(build(settings, seed=seed))
        return made[-1]

    yield make
    for each in made:
        each.close()
        each.close()  # twice is allowed


def test_solves_the_cart_pole(opened: Any) -> None:
    """475 of 500 is what Gymnasium calls solved; greedily, in 30 iterations of 2 048 steps at most."""
    learner = opened(cart_pole())
    for iteration in range(30):
        learner.iterate(iteration)
        if iteration >= 9 and learner.evaluate(iteration)["evaluation/return"] >= 475:
            break
    assert learner.evaluate(iteration)["evaluation/return"] >= 475


@pytest.mark.parametrize("parts", [True, False])
def test_learns_actions_of_parts_and_numbers_that_do_not_begin_at_0(opened: Any, parts: bool) -> None:
    """The world raises an error where an action is masked or not of its space, so masks are kept as well."""
    learner = opened(guessing(parts))
    before = learner.evaluate(0)["evaluation/return"]
    for iteration in range(20):
        told = learner.iterate(iteration)
    after = learner.evaluate(20)["evaluation/return"]
    assert before < 6.5
    assert after > 7.5
    assert told["rollout/steps"] == 8 * 32
    assert told["rollout/episodes"] == 8 * 4
    assert told["rollout/length"] == 8


def test_the_first_minibatch_shows_no_divergence(opened: Any) -> None:
    """What was decided while collecting is decided again while learning: normalisation, masks, traces and all."""
    for settings in (guessing(), line()):
        learner = opened(settings)
        for iteration in range(2):
            assert abs(learner.iterate(iteration)["policy/first_kl"]) < 1e-6


@pytest.mark.parametrize(
    "settings",
    [guessing(), line(), line(teacher="linegym.teaching:oracle_diagnosis", iterations=3, guided=2)],
    ids=["guess", "line", "imitation"],
)
def test_goes_on_bit_by_bit_after_a_break(opened: Any, settings: Settings) -> None:
    """A checkpoint is all that later iterations depend on: parameters, moments, statistics, orchestrator, curiosity."""
    whole = opened(settings)
    told = [whole.iterate(iteration) for iteration in range(2)]
    kept = copy.deepcopy(whole.state())
    whole.evaluate(1)
    assert same(kept, whole.state())
    told += [whole.iterate(iteration) for iteration in range(2, 4)]

    resumed = opened(settings)
    resumed.load(kept)
    assert same(kept, resumed.state())
    again = [resumed.iterate(iteration) for iteration in range(2, 4)]
    assert same(whole.state(), resumed.state())
    for one, other in zip(told[2:], again, strict=True):
        lasting = [name for name in one if not name.startswith("time/")]
        assert repr([one[name] for name in lasting]) == repr([other[name] for name in lasting])


def test_another_seed_is_another_training(opened: Any) -> None:
    one, other = opened(guessing(), 0), opened(guessing(), 1)
    one.iterate(0)
    other.iterate(0)
    assert not same(one.state(), other.state())


def test_torchs_own_random_numbers_are_left_alone(opened: Any) -> None:
    before = torch.random.get_rng_state()
    learner = opened(guessing())
    learner.iterate(0)
    assert torch.equal(before, torch.random.get_rng_state())


def test_a_loss_that_is_no_number_is_told_and_nothing_learned(opened: Any) -> None:
    """The loop goes back to the last good checkpoint, so the error must be the one that it waits for."""
    learner = opened(guessing().model_copy(update={"reward": Reward(normalise=False)}))
    learner.experience.reward_scale = 1e30
    before = copy.deepcopy(learner.state())
    with pytest.raises(Diverged, match="the loss is inf"):
        learner.iterate(0)
    assert same(before, learner.state())


def test_a_state_of_another_shape_or_kind_changes_nothing(opened: Any) -> None:
    learner, other = opened(guessing()), opened(cart_pole())
    before = copy.deepcopy(learner.state())
    with pytest.raises(ValueError, match=r"another network.*give the settings"):
        learner.load(State(other.state().tensors, {**before.values}))
    with pytest.raises(ValueError, match="kind 'language'"):
        learner.load(State(before.tensors, {**before.values, "kind": "language"}))
    with pytest.raises(ValueError, match="curiosity"):
        learner.load(
            State(before.tensors, {name: value for name, value in before.values.items() if name != "curiosity"})
        )
    assert same(before, learner.state())


def test_spaces_that_it_cannot_use_are_refused() -> None:
    with pytest.raises(TypeError, match="observations Discrete"):
        build(cart_pole().model_copy(update={"environment": Environment(id="FrozenLake-v1")}), seed=0)
    with pytest.raises(TypeError, match="actions Box"):
        build(cart_pole().model_copy(update={"environment": Environment(id="Pendulum-v1")}), seed=0)
    with pytest.raises(ValueError, match="brings no splits"):
        build(cart_pole().model_copy(update={"environment": Environment(id="CartPole-v1", split="train")}), seed=0)
    with pytest.raises(LookupError, match="line-v1/fit"):
        build(cart_pole().model_copy(update={"environment": Environment(id=LINE, split="line-v1/fi")}), seed=0)


def test_a_teacher_that_cannot_be_made_keeps_its_traceback(opened: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is wrong is in somebody's program, and not in the configuration."""
    monkeypatch.setattr("linegym.teaching.cusum", lambda: 1 / 0)
    with pytest.raises(PolicyError, match=r"could not be made.*ZeroDivisionError") as caught:
        opened(line(teacher="linegym.teaching:cusum", iterations=1))
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_an_environment_that_does_not_tell_back_the_variants_is_refused() -> None:
    """CartPole plays the same whatever it is asked for: `variants/a 0.5` would be of something that nobody played."""
    never = cart_pole().model_copy(update={"environment": Environment(id="CartPole-v1", variants=("a", "b"))})
    with pytest.raises(
        ValueError, match=r"asked for the variant '[ab]' in row 0 and tells nothing in info.*leave both"
    ):
        build(never, seed=0)
    told = "serial/thermocouple/profinet/bearing+sensor:3"
    aliased = Environment(id=LINE, kwargs={"max_episode_steps": 20}, variants=(f"{told}+network:0",))
    with pytest.raises(
        ValueError, match=rf"asked for the variant '.*network:0' in row 0 and tells {re.escape(repr(told))}"
    ):
        build(line().model_copy(update={"environment": aliased}), seed=0)


@pytest.mark.parametrize("sampler", ["uniform", "ucb", "thompson"])
def test_a_variant_that_is_told_as_an_episode_begins_is_the_episodes(opened: Any, sampler: str) -> None:
    """No step need tell it again, neither for what is told of families, nor for the orchestrator or distillation."""
    settings = Settings(
        environment=Environment(id=NAMED, variants=("a", "b")),
        rollout=Rollout(rows=4, steps=8, statistics=8, evaluation_rows=2, sampler=sampler),
        training=Training(iterations=2, distillation=Distillation(every=1, count=2, attempts=2)),
    )
    learner = opened(settings)
    for iteration in range(2):
        told = learner.iterate(iteration)
        assert told["own/hard_variants"] == 2
    assert any(name.startswith("rollout/family/") for name in told)
    chosen = ["a", "b", "b", "a"]
    kept = learner.experience.collected(2, chosen, imitates=False, watcher=None)
    assert len(kept.episodes) == 8
    assert [each.variant for each in kept.episodes] == [chosen[each.row] for each in kept.episodes]
    assert {"family/a_return", "family/b_return"} <= set(learner.evaluate(2))


def test_variants_are_of_the_split_and_change(opened: Any) -> None:
    """Whoever trains on ``fit`` never meets what validates."""
    learner = opened(line().model_copy(update={"rollout": Rollout(rows=4, steps=20, statistics=20)}))
    seen = [learner.experience.choosing.chosen(4, iteration) for iteration in range(3)]
    assert len({each for chosen in seen for each in chosen}) > 8
    from linegym.splits import named

    allowed = {variant.id for variant in named("fit")}
    assert {each for chosen in seen for each in chosen} <= allowed
    assert seen[1] == learner.experience.choosing.chosen(4, 1)


def test_what_was_chosen_is_told_by_family_and_level(opened: Any) -> None:
    """The orchestrator decides among 12 groups and not among 6 650 variants, each of which it would have to try."""
    learner = opened(line())
    chosen = learner.experience.choosing.chosen(12, 0)
    told = learner.experience.choosing.told(chosen)
    assert set(told) == {
        f"variants/{family}:{level}" for family in ("sensor", "network", "load") for level in range(1, 5)
    }
    assert sum(told.values()) == pytest.approx(1)
    assert all(share == pytest.approx(1 / 12) for share in told.values())


def test_twins_play_the_same_episode_and_count_against_each_other(opened: Any) -> None:
    """Same variants and seeds: rows 0 and 1 see the same until they do something else, and 2 another line."""
    rollout = Rollout(rows=4, steps=20, statistics=20, evaluation_rows=2, twins=2)
    learner = opened(line().model_copy(update={"rollout": rollout}))
    learner.iterate(0)
    kept = learner.experience.collector._kept
    shown, acted = kept.features[:, :, : learner.spaces.observation], kept.actions[:, :, 0]
    for first in (0, 2):
        apart = (acted[:, first] != acted[:, first + 1]).argmax()
        assert (shown[: apart + 1, first] == shown[: apart + 1, first + 1]).all()
    assert (shown[0, 0] != shown[0, 2]).any()
    assert len({each.variant for each in kept.episodes}) == 2
    with pytest.raises(ValueError, match=r"4 rows of a process .* rollout\.twins=3"):
        build(line().model_copy(update={"rollout": rollout.model_copy(update={"twins": 3})}), seed=0)


def test_the_rate_of_imitation_falls_where_that_is_asked_for(opened: Any) -> None:
    teacher = {"teacher": "linegym.teaching:oracle_diagnosis", "iterations": 2, "learning_rate": 1e-3}
    learner = opened(line(**teacher, schedule="linear"))
    assert [learner.iterate(each)["policy/learning_rate"] for each in range(3)] == [1e-3, 5e-4, 3e-4]


def test_imitation_may_take_more_and_smaller_steps_than_ppo(opened: Any) -> None:
    teacher = {"teacher": "linegym.teaching:oracle_diagnosis", "iterations": 1, "epochs": 2, "minibatches": 5}
    learner = opened(line(**teacher))
    assert learner.iterate(0)["policy/steps"] == 2 * 5
    assert learner.iterate(1)["policy/steps"] <= 4 * 4, "the passes of PPO, and the steps of each"
