"""An environment that gives what is no number is named, with what it gave and where; nothing is gone back to."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import file_tasks
import gymnasium
import numpy as np
import pytest
from guessing_world import ID
from gymnasium.wrappers import TransformReward

from rolf_adapters.ppo.config import checked
from rolf_adapters.ppo.run import TrainingError
from rolf_adapters.ppo.soundness import Unsound, name, see_measured, see_observations, see_reward, see_rewards
from rolf_adapters.ppo.train import News, train

ENVS = SimpleNamespace(spec=SimpleNamespace(id="Mine-v0"))
TERMINAL: Mapping[str, Any] = {
    "experiment": {"kind": "language"},
    "environment": {"id": "Unpaid-v0"},
    "rollout": {"episodes": 2, "environments": 1, "turns": 1, "tokens": 4, "window": 256, "evaluation": 1,
                "speech": {"system": ""}},
    "policy": {"model": "file_tasks:tiny", "layers": 1},
    "training": {"iterations": 1},
    "logging": {"tensorboard": False},
}  # fmt: skip


@pytest.mark.parametrize("reward", [np.nan, np.inf, -np.inf])
def test_a_reward_that_is_no_number_is_told_with_its_place(reward: float) -> None:
    """The first row of those; the step is counted from 1."""
    with pytest.raises(Unsound, match=rf"^Mine-v0 gave the reward {reward} in row 1, step 8: .*mend the environment"):
        see_rewards(ENVS, np.array([1.0, reward, reward]), np.array([0, 7, 0]))
    with pytest.raises(Unsound, match=rf"^mine:Mine-v0 gave the reward {reward} in turn 3: "):
        see_reward("mine:Mine-v0", float(reward), 3)


def test_an_observation_that_is_no_number_is_told_with_its_place() -> None:
    """Only where something will be done about it: an episode that has ended needs none."""
    seen = np.array([[0, 0, 0], [0, 1, np.nan], [np.inf, 0, 0]], np.float32)
    with pytest.raises(Unsound, match=r"gave an observation whose number 2 is nan in row 1, after a reset: "):
        see_observations(ENVS, seen, np.ones(3, np.bool_), "after a reset")
    see_observations(ENVS, seen, np.array([True, False, True]), "after a reset")
    with pytest.raises(Unsound, match=r"gave observations whose number 0 is infinite while statistics were taken: "):
        see_measured(ENVS, seen[[0, 2]])


def test_numbers_pass() -> None:
    """Of whatever size."""
    see_rewards(ENVS, np.array([1e300, -5, 0]), np.zeros(3, np.int64))
    see_rewards(ENVS, np.array([1, 2]), np.zeros(2, np.int64))
    see_reward("Mine-v0", -1e300, 1)
    see_measured(ENVS, np.full((2, 3), 1e30, np.float32))


def test_an_environment_that_is_registered_nowhere_is_called_by_its_class() -> None:
    """Something has to be said."""
    assert name(SimpleNamespace(spec=None)) == "SimpleNamespace"


def test_a_language_model_is_not_slowed_down_by_a_reward_that_is_no_number(tmp_path: Path) -> None:
    """It is told at the first one, before anything was learned from it."""

    def unpaid(**kwargs: Any) -> gymnasium.Env[Any, Any]:
        return TransformReward(file_tasks.make(**kwargs), lambda _: float("nan"))

    gymnasium.register("Unpaid-v0", unpaid, disable_env_checker=True)
    news: list[News] = []
    with pytest.raises(TrainingError, match=r"^iteration 0: Unpaid-v0 gave the reward nan in turn 1: .*mend the env"):
        train(checked(dict(TERMINAL)), tmp_path, report=news.append)
    assert not any("back to" in each.message for each in news)


def test_a_network_is_not_slowed_down_by_a_reward_that_is_no_number(tmp_path: Path) -> None:
    """Already the statistics say so."""
    plain = {
        "experiment": {"kind": "vector"},
        "environment": {"id": ID, "kwargs": {"nothing_at": 3}},
        "rollout": {"rows": 2, "steps": 8, "statistics": 8, "evaluation_rows": 1},
        "training": {"iterations": 1},
        "logging": {"tensorboard": False},
    }
    with pytest.raises(TrainingError, match=r"^iteration 0: .*Guess-v0 gave the reward nan in row 0, step 3: "):
        train(checked(plain), tmp_path)
