"""Environments in RLlib: real algorithms, real terminals."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from ray.rllib.algorithms.ppo import PPO, PPOConfig
from ray.rllib.env.env_context import EnvContext

from rolf_adapters import rllib
from rolf_adapters.presentation import Presentation
from rolf_wrappers import FlatFloat, MenuAction, ParamAction

HORIZON = 40
VARIANT = "serial/thermocouple/profinet/bearing+sensor:3"
MENU = {"list": {"tool": "run", "arguments": {"command": "ls -a"}}, "done": {"tool": "submit"}}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:.*Overriding environment rllib-single-agent-env-v0:UserWarning"),
]


def config(name: str, steps: int, rows: int = 1, mode: str = "sync", **env_config: Any) -> PPOConfig:
    """Return what a short run in this process takes."""
    return (
        PPOConfig()
        .environment(name, env_config=env_config)
        .env_runners(
            num_env_runners=0,
            num_envs_per_env_runner=rows,
            rollout_fragment_length=steps // rows,
            gym_env_vectorize_mode=mode,
        )
        .training(train_batch_size_per_learner=steps, minibatch_size=steps // 2, num_epochs=1)
        .rl_module(model_config={"fcnet_hiddens": [32]})
        .debugging(seed=3)
    )


def weights(algorithm: PPO) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in algorithm.get_module().state_dict().items()}


def test_trains_saves_and_restores(tmp_path: Path) -> None:
    """RLlib has no checker of environments any more: this is the check."""
    rllib.register("line", "linegym:LineEnv-v1", horizon=HORIZON)
    algorithm = config("line", 160, rows=2).build_algo()
    before = weights(algorithm)
    told = algorithm.train()
    assert told["env_runners"]["num_env_steps_sampled"] == 160
    assert told["env_runners"]["episode_len_mean"] == HORIZON
    after = weights(algorithm)
    assert any(not torch.equal(before[name], after[name]) for name in before)
    algorithm.save_to_path(str(tmp_path))
    algorithm.stop()

    restored = PPO.from_checkpoint(str(tmp_path))
    assert restored.iteration == 1
    assert {name: value.tolist() for name, value in weights(restored).items()} == {
        name: value.tolist() for name, value in after.items()
    }
    assert restored.train()["training_iteration"] == 2
    restored.stop()


@pytest.mark.parametrize(("mode", "given"), [("sync", {}), ("vector_entry_point", {"variants": [VARIANT]})])
def test_what_is_sampled_is_what_the_environment_does(mode: str, given: dict[str, Any]) -> None:
    """Episodes are put together from what a vector returns: no step that pays nothing, no array that is used again."""
    arguments = {} if given else {"variant": VARIANT}
    rllib.register("line", "linegym:LineEnv-v1", horizon=HORIZON, **arguments)
    algorithm = config("line", 2 * HORIZON, rows=2, mode=mode, **given).build_algo()
    episodes = [each for each in algorithm.env_runner.sample(num_episodes=2, random_actions=True) if each.is_done]
    assert len(episodes) == 2
    env = gym.make("linegym:LineEnv-v1", horizon=HORIZON, variant=VARIANT)
    seed = int(algorithm.env_runner._seed)
    first = rllib._drawn(seed) if given else seed
    for row, episode in enumerate(episodes):
        seen, _ = env.reset(seed=first + row)
        assert len(episode) == HORIZON
        np.testing.assert_array_equal(episode.get_observations(0), seen)
        for step in range(HORIZON):
            seen, reward, *_ = env.step(int(episode.get_actions(step)))
            np.testing.assert_array_equal(episode.get_observations(step + 1), seen)
            assert episode.get_rewards(step) == pytest.approx(reward)
    env.close()
    algorithm.stop()


def test_trains_in_a_terminal() -> None:
    """Texts become counts of words, a menu of commands a number: real shells, ordinary networks."""
    said = Presentation(menu=MENU, texts=dict.fromkeys(["cwd", "instruction", "stderr", "stdout"], 16))
    rllib.register("terminal", "termgym:TermEnv-v1", presentation=said, max_steps=2)
    algorithm = config("terminal", 8).build_algo()
    assert algorithm.env_runner.env.single_action_space == gym.spaces.Discrete(2)
    told = algorithm.train()
    algorithm.stop()
    assert told["env_runners"]["num_env_steps_sampled"] == 8
    assert 1 <= told["env_runners"]["episode_len_mean"] <= 2


@pytest.mark.parametrize("batch", [True, False])
def test_no_two_rows_of_any_runners_play_the_same(batch: bool) -> None:
    """RLlib seeds runner w with seed + w, and Gymnasium row i of it with that + i."""
    made = rllib.Presented("linegym:LineEnv-v1", {"horizon": HORIZON})
    played = set()
    for runner in range(1, 5):
        context = EnvContext({}, worker_index=runner)
        if batch:
            envs = made(context | {"variants": [VARIANT], "num_envs": 8})
            envs.reset(seed=100 + runner)
            seen = [envs.step(np.zeros(8, np.int64))[0] for _ in range(5)]
            played |= {np.stack([each[row] for each in seen]).tobytes() for row in range(8)}
            envs.close()
            continue
        env = made(EnvContext({"variant": VARIANT}, worker_index=runner))
        for row in range(8):
            env.reset(seed=100 + runner + row)
            played.add(np.stack([env.step(0)[0] for _ in range(5)]).tobytes())
        env.close()
    assert len(played) == 32


def test_arrays_that_are_used_again_are_refused() -> None:
    with pytest.raises(ValueError, match="copy=False: RLlib keeps the observations"):
        rllib.Presented("linegym:LineEnv-v1")({"num_envs": 2, "copy": False})


def test_env_config_has_the_last_word() -> None:
    made = rllib.Presented("linegym:LineEnv-v1", {"horizon": 7})({"horizon": 9})
    assert made.unwrapped.settings.horizon == 9
    assert made.observation_space.dtype == np.float32
    made.close()


def test_text_actions_need_a_menu() -> None:
    asked = r"actions are UnicodeText.*RLlib does not take.*give Presentation\(menu=(.|\n)*in termgym:TermEnv-v1"
    with pytest.raises(TypeError, match=asked):
        rllib.Presented("termgym:TermEnv-v1")({})


@pytest.mark.parametrize(
    ("presentation", "expected"),
    [
        (None, [FlatFloat]),
        (Presentation(menu={"wait": 0}, places=2), [MenuAction, FlatFloat]),
        (Presentation(tools=["wait", "close"]), [ParamAction, FlatFloat]),
    ],
)
def test_wrappers_are_chosen_as_for_stable_baselines3(presentation: Presentation | None, expected: list[type]) -> None:
    """All but that RLlib gets one vector of float32 in any case."""
    env = rllib.Presented("linegym:LineEnv-v1", {}, presentation)({})
    found: list[type] = []
    while isinstance(env, gym.Wrapper):
        found.insert(0, type(env))
        env = env.env
    assert [each for each in found if each.__module__.startswith("rolf_wrappers")] == expected


def test_a_text_becomes_64_numbers_where_nothing_is_said() -> None:
    env = rllib.Presented("termgym:TermEnv-v1", {}, Presentation(menu=MENU))({})
    assert env.observation_space.shape == (4 * (64 + 1) + 13,)
    env.close()


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (
            rllib.Presented("linegym:LineEnv-v1", presentation=Presentation(menu={"wait": 0})),
            "a presentation needs an environment a row",
        ),
        (rllib.Presented("termgym:TermEnv-v1"), "observations are Dict"),
        (rllib.Presented("gymnasium:MountainCar-v0"), "it has no vector version"),
    ],
)
def test_what_is_no_batch_is_refused(made: rllib.Presented, why: str) -> None:
    with pytest.raises(TypeError, match=f"cannot be played as one batch: {why}.*leave gym_env_vectorize_mode"):
        made({"num_envs": 2})


def test_without_ray_the_extra_is_named() -> None:
    code = "import sys; sys.modules['ray'] = None; import rolf_adapters.rllib"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'rolf[ray]'" in done.stderr
