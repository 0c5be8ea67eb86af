"""What is told of groups of variants, of the critic and of rewards is what was played, with how sure that is."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from guessing_world import ID

from rolf.statistics import interval, mean
from rolf_adapters.ppo.config import checked
from rolf_adapters.ppo.families import FAMILIES, OTHERS, told_as
from rolf_adapters.ppo.metrics import METRICS, read
from rolf_adapters.ppo.train import train
from rolf_adapters.ppo.vector.collector import Episode
from rolf_adapters.ppo.vector.learner import build
from rolf_adapters.ppo.vector.settings import Environment, Reward, Rollout, Settings, Training
from rolf_adapters.ppo.vector.telling import of_credit, of_episodes, of_evaluation

GROUPS = {"a1": "a", "a2": "a", "b1": "b", "c1": "c"}
SUCCESS = {"a1": 1.0, "a2": 0.0, "b1": 1.0}
TOTAL = {"a1": 2.0, "a2": 4.0, "b1": 10.0}
PLAYED = [Episode(row, name, TOTAL[name], 5, SUCCESS[name], 0.5) for row, name in enumerate(TOTAL)]


def double(name: str, total: float) -> float:
    return 2 * total + (name == "b1")


def test_each_group_is_told_with_drawn_and_with_greedy_actions() -> None:
    """Greedily with intervals over variants: success lies within 0 and 1, a score anywhere. A group in which nobody
    played is not told."""
    drawn = of_episodes(PLAYED, 15, GROUPS, double)
    assert {name: value for name, value in drawn.items() if "family" in name} == {
        "rollout/family/a": 0.5, "rollout/family/a_score": 6.0, "rollout/family/b": 1.0, "rollout/family/b_score": 21.0,
    }  # fmt: skip
    assert drawn["rollout/score"] == pytest.approx((4 + 8 + 21) / 3)
    greedy = of_evaluation(PLAYED, GROUPS, double)
    wanted = interval(mean, [[1.0], [0.0]], ["a1", "a2"], bounds=(0.0, 1.0))
    assert [greedy[f"family/a{end}"] for end in ("", "_low", "_high")] == [0.5, wanted.low, wanted.high]
    assert [greedy[f"family/a_score{end}"] for end in ("", "_low", "_high")] == [6, 4, 8]
    assert [greedy[f"family/b{end}"] for end in ("", "_low", "_high")] == [1, 0, 1], "one variant says little"
    assert greedy["family/b_score"] == 21
    assert math.isnan(greedy["family/b_score_low"])
    assert not any(name.startswith("family/c") for name in greedy)
    assert greedy["evaluation/score_low"] < greedy["evaluation/score"] < greedy["evaluation/score_high"]
    assert greedy["evaluation/return_low"] < greedy["evaluation/return"] < greedy["evaluation/return_high"]


def test_without_a_score_returns_are_told_and_without_success_none() -> None:
    blind = [each._replace(success=float("nan")) for each in PLAYED]
    told = of_evaluation(blind, GROUPS, None)
    assert told["family/a_return"] == 3
    assert "family/a" not in told
    assert math.isnan(told["evaluation/success"])
    assert math.isnan(told["evaluation/success_low"])
    assert "evaluation/score" not in told


def test_many_groups_are_told_together_from_some_on() -> None:
    """Nobody reads thousands of curves; nobody's is left out."""
    groups = {f"v{number:03}": f"g{number:03}" for number in range(FAMILIES + 5)}
    names = told_as(groups.values())
    assert len(set(names.values())) == FAMILIES
    assert sum(name == OTHERS for name in names.values()) == 6
    assert OTHERS not in told_as([*groups.values()][:FAMILIES]).values()


def test_rewards_and_the_critic_by_hand() -> None:
    """Returns 1, 2, 3, 4 have variance 1.25, of which values that are wrong by 0, 0, 1, 1 leave 0.25."""
    returns, paid = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[0.5, 1.5], [0.0, 0.0]])
    values = np.array([[1.0, 2.0], [2.0, 3.0]], np.float32)
    told = of_credit(paid, None, values, returns)
    assert told == {"value/explained": pytest.approx(0.8), "reward/mean": 0.5}
    assert of_credit(paid, paid / 2, values, returns)["reward/curiosity"] == 0.25
    assert of_credit(paid, None, values, np.ones((2, 2)))["value/explained"] == 0


def test_a_training_tells_what_its_rewards_are_made_of() -> None:
    """The guesser is paid a half at least for a right part; curiosity is paid once it has seen something."""
    settings = Settings(
        environment=Environment(id=ID),
        rollout=Rollout(rows=8, steps=32, statistics=64),
        reward=Reward(curiosity=0.02),
        training=Training(iterations=12, learning_rate=5e-3),
    )
    learner = build(settings, seed=0)
    try:
        told = [learner.iterate(iteration) for iteration in range(12)]
        scale = learner.experience.reward_scale
    finally:
        learner.close()
    assert told[0]["reward/curiosity"] == 0 < told[1]["reward/curiosity"] < told[1]["reward/mean"]
    extrinsic = told[5]["reward/mean"] - told[5]["reward/curiosity"]
    assert extrinsic == pytest.approx(told[5]["rollout/return"] / 8 * scale)
    assert told[11]["value/explained"] > told[0]["value/explained"]


def test_lines_are_told_by_family_and_level_with_scores(tmp_path: Path) -> None:
    """A whole shift each, for which baselines are known."""
    plain: dict[str, Any] = {
        "experiment": {"kind": "vector"},
        "environment": {"id": "linegym:LineEnv-v1", "split": "line-v1/fit", "test_split": "line-v1/validation",
                        "kwargs": {"ticks_per_step": 10}, "score": "linegym.scores:scorer"},
        "rollout": {"rows": 4, "steps": 60, "statistics": 60, "evaluation_rows": 12},
        "policy": {"width": 8},
        "training": {"iterations": 1},
        "logging": {"tensorboard": False},
    }  # fmt: skip
    train(checked(plain), tmp_path)
    (line,) = read(tmp_path / METRICS)
    families = {name for name in line if name.startswith("family/") and name.endswith("_score")}
    assert families <= {
        f"family/{kind}:{level}_score" for kind in ("sensor", "network", "load") for level in range(1, 5)
    }
    assert 3 < len(families) <= 12
    assert line["evaluation/score_low"] <= line["evaluation/score"] <= line["evaluation/score_high"]
    played = {f"rollout/family/{name.removeprefix('variants/')}_score" for name in line if name.startswith("variants/")}
    assert {name for name in line if name.startswith("rollout/family/") and name.endswith("_score")} <= played
    assert line["rollout/score"] < 1.0
