"""What was learned plays under ``rolf eval`` as it does in training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from guessing_world import ID

from rolf.evaluation.policy import Start
from rolf.variant import Variant
from rolf_adapters.ppo.config import checked
from rolf_adapters.ppo.train import train
from rolf_adapters.ppo.vector.learner import build
from rolf_adapters.ppo.vector.player import Player, answering, player
from rolf_adapters.ppo.vector.settings import Environment, Policy, Rollout, Settings, Training

LINE = "linegym:LineEnv-v1"
IDS = ("serial/rtd/profinet/bearing+sensor:3", "hybrid/rtd/profinet/bearing+network:2")


def played(policy: Player, env: gym.Env[Any, Any], variant: Variant, seed: int) -> float:
    seen, info = env.reset(seed=seed)
    policy.begin(Start(variant, 0, 1, seen, info, env))
    total, over = 0.0, False
    while not over:
        action = policy.act(seen, info)
        assert env.action_space.contains(action)
        seen, reward, terminated, truncated, info = env.step(action)
        total, over = total + float(reward), terminated or truncated
    return total


@pytest.mark.parametrize(
    ("kwargs", "waits", "layout"),
    [({"ticks_per_step": 3}, 0, "line"), ({}, 2, "line-senses"), ({"ticks_per_step": 3}, 1, "line-senses")],
)
def test_plays_a_line_tick_by_tick_as_it_was_trained(kwargs: dict[str, Any], waits: int, layout: str) -> None:
    """Bit by bit the same return as in the vector environment, in one episode after the other."""
    settings = Settings(
        environment=Environment(id=LINE, kwargs={"horizon": 90, **kwargs}, variants=IDS),
        rollout=Rollout(rows=2, steps=30, statistics=30, evaluation_rows=2, waits=waits),
        policy=Policy.model_validate({"width": 16, "layout": layout, "period": 30.0}),
        training=Training(iterations=1),
    )
    learner = build(settings, seed=0)
    learner.iterate(0)
    learner.network.sharpen(50.0)
    collected = learner.experience.collector.collect(
        learner.network, 100, [5, 6], options={"variants": [*IDS]}, once=True
    )
    wanted = {each.row: each.total for each in collected.episodes}
    policy = Player(settings, answering(settings, learner.state()))
    learner.close()
    for row, name in enumerate(IDS):
        env = gym.make(LINE, variant=name, horizon=90)
        variant = Variant(LINE, {"variant": name}, 0)
        assert played(policy, env, variant, 5 + row) == pytest.approx(wanted[row], abs=1e-9)
        env.close()


def test_waits_in_all_parts_of_an_action() -> None:
    """Between its decisions it does what the environment was given then in training."""
    settings = Settings(environment=Environment(id=ID), rollout=Rollout(waits=1), training=Training(iterations=1))
    learner = build(settings, seed=0)
    policy, env = Player(settings, answering(settings, learner.state())), gym.make(ID)
    seen, info = env.reset(seed=0)
    policy.begin(Start(Variant(ID, {}, 0), 0, 1, seen, info, env))
    assert env.action_space.contains(policy.act(seen, info))
    waiting = policy.act(seen, info)
    assert env.action_space.contains(waiting)
    assert waiting.tolist() == [0, 0]
    learner.close()


def test_a_mask_of_other_choices_is_none() -> None:
    """A line tells the mask of its 545 flat actions, whatever actions it takes: in training and in playing."""
    settings = Settings(
        environment=Environment(id=LINE, kwargs={"action": "multi", "horizon": 20}),
        rollout=Rollout(rows=2, steps=10, statistics=10, evaluation_rows=1),
        policy=Policy(width=4),
        training=Training(iterations=1),
    )
    learner = build(settings, seed=0)
    assert learner.iterate(0)["rollout/steps"] == 20
    policy, env = Player(settings, answering(settings, learner.state())), gym.make(LINE, action="multi", horizon=20)
    seen, info = env.reset(seed=0)
    assert info["action_mask"].shape == (545,)
    policy.begin(Start(Variant(LINE, {}, 0), 0, 1, seen, info, env))
    assert env.action_space.contains(policy.act(seen, info))
    learner.close()
    env.close()


def test_plays_the_checkpoint_of_a_run(tmp_path: Path) -> None:
    config = checked(
        {
            "experiment": {"kind": "vector"},
            "environment": {"id": "CartPole-v1"},
            "rollout": {"rows": 2, "steps": 16, "statistics": 16, "evaluation_rows": 2},
            "training": {"iterations": 1},
            "logging": {"tensorboard": False},
        }
    )
    train(config, tmp_path / "run")
    found = player(str(tmp_path / "run"), name="pole")
    assert (found.name, found.privileged, found.deterministic) == ("pole", False, True)
    assert played(found, gym.make("CartPole-v1"), Variant("CartPole-v1", {}, 0), 0) >= 1
    with pytest.raises(ValueError, match="another network"):
        played(found, gym.make("Acrobot-v1"), Variant("Acrobot-v1", {}, 0), 0)
    with pytest.raises(ValueError, match="holds no checkpoint"):
        player(str(tmp_path))


def test_says_whom_it_imitated() -> None:
    settings = Settings(
        environment=Environment(id="CartPole-v1"),
        training=Training.model_validate(
            {"iterations": 2, "imitation": {"teacher": "linegym.teaching:cusum", "iterations": 1}}
        ),
    )
    learner = build(settings, seed=0)
    assert (
        "after imitating linegym.teaching:cusum" in Player(settings, answering(settings, learner.state())).description
    )
    learner.close()
