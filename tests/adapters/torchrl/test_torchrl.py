"""TorchRL: specs that are true, rows that are what single environments are, and PPO that improves."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode
from torchrl.envs import ActionMask, SerialEnv, TransformedEnv, check_env_specs
from trainable import SMALL

import termgym
from rolf_adapters.torchrl import RowsEnv, make_torchrl_env

LINE, TERM = "linegym:LineEnv-v1", "termgym:TermEnv-v1"
NAMES = ["serial/rtd/profinet/bearing", "parallel/current/opcua/jam+sensor:3", "hybrid/thermocouple/profinet/overheat"]
HORIZON = 6
EXAMPLE = Path(__file__).parents[3] / "examples" / "training" / "train_torchrl_line.py"


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    torch.set_num_threads(1)


def rows(**settings: Any) -> RowsEnv:
    made = make_torchrl_env(LINE, 3, variants=NAMES, max_episode_steps=HORIZON, **settings)
    assert isinstance(made, RowsEnv)
    return made


@pytest.mark.parametrize("settings", [{}, {"observation": "dict"}, {"action": "multi"}, {"masks": False}])
def test_specs_of_rows_are_true(settings: dict[str, Any]) -> None:
    check_env_specs(rows(**settings), break_when_any_done="both")


@pytest.mark.parametrize("settings", [{}, {"observation": "dict"}, {"action": "multi"}])
def test_specs_of_a_single_line_are_true(settings: dict[str, Any]) -> None:
    check_env_specs(make_torchrl_env(LINE, horizon=HORIZON, **settings), break_when_any_done="both")


def test_specs_of_a_terminal_are_true() -> None:
    """What is drawn there as an action is no plan, so nothing of it reaches the shell."""
    env = make_torchrl_env(TERM)
    check_env_specs(env)
    env.close()


def test_text_goes_in_and_comes_out() -> None:
    env = make_torchrl_env(TERM)
    seen = env.reset()
    seen["action"] = termgym.plan("echo 'naïve ☕'")
    assert env.step(seen)["next", "stdout"] == "naïve ☕\n"
    env.close()


def test_several_terminals_are_stepped_one_by_one() -> None:
    env = SerialEnv(2, lambda: make_torchrl_env(TERM, max_steps=3))
    assert env.rollout(3)["next", "stderr"][0][0].startswith("not a plan")
    env.close()


def test_rows_are_what_single_environments_are() -> None:
    """To the bit, also after some of them have ended: observations, rewards, ends and masks."""
    env = TransformedEnv(rows(), ActionMask())
    env.set_seed(5)
    torch.manual_seed(0)
    played = env.rollout(3 * HORIZON, break_when_any_done=False)
    assert played["next", "truncated"].sum() == 9
    assert not played["next", "terminated"].any()
    for row, name in enumerate(NAMES):
        single = gym.make(LINE, variant=name, horizon=HORIZON)
        seen, info = single.reset(seed=5 + row)
        for step in played[row]:
            assert np.array_equal(step["observation"].numpy(), seen)
            assert np.array_equal(step["action_mask"].numpy(), info["action_mask"] == 1)
            assert info["action_mask"][step["action"].item()], "drawn among what is possible"
            seen, reward, _, over, info = single.step(step["action"].item())
            assert np.array_equal(step["next", "observation"].numpy(), seen)
            assert step["next", "reward"].item() == np.float32(reward)
            assert step["next", "done"].item() == over
            if over:
                seen, info = single.reset()


def test_a_row_is_reset_alone() -> None:
    """In the middle of its episode: it begins the next, the others go on, and end earlier."""
    env = rows()
    env.set_seed(5)
    before = env.rollout(2)[:, -1]["next"].exclude("reward").clone()
    kept = before["observation"].clone()
    fresh = env.reset(before.set("_reset", torch.tensor([[False], [True], [False]])))
    single = gym.make(LINE, variant=NAMES[1], horizon=HORIZON)
    single.reset(seed=6)
    expected, _ = single.reset()
    assert np.array_equal(fresh["observation"][1].numpy(), expected)
    assert torch.equal(fresh["observation"][[0, 2]], kept[[0, 2]])
    later = env.rollout(HORIZON, tensordict=fresh, auto_reset=False)
    assert later["next", "done"][:, -1].flatten().tolist() == [True, False, True]
    assert later.shape == (3, HORIZON - 2)


def test_the_same_seed_gives_the_same_and_another_another() -> None:
    def played(seed: int) -> Any:
        env = rows()
        env.set_seed(seed)
        torch.manual_seed(0)
        return env.rollout(2 * HORIZON, break_when_any_done=False)

    assert (played(3) == played(3)).all()
    assert not torch.equal(played(3)["observation"], played(4)["observation"])


def test_what_a_step_returned_stays_what_it_was() -> None:
    """Also where the environment writes into its arrays again (`copy=False`)."""
    env = rows(copy=False)
    first = env.reset()
    kept = first["observation"].clone()
    env.rand_step(first)
    assert torch.equal(first["observation"], kept)


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: make_torchrl_env(TERM, 2), TypeError, "leave n_envs out.*torchrl.envs.SerialEnv"),
        (
            lambda: RowsEnv(gym.make_vec(LINE, 2, variants=NAMES, autoreset_mode=AutoresetMode.SAME_STEP)),
            ValueError,
            "with AutoresetMode.DISABLED",
        ),
    ],
)
def test_says_what_is_wrong(make: Callable[[], Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        make()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_ppo_improves_on_a_small_line() -> None:
    """As the example trains. Acting at random earns 22 in these lines, reacting to alarms 63."""
    env = make_torchrl_env(LINE, 16, variants=SMALL, ticks_per_step=6)
    earned = runpy.run_path(str(EXAMPLE))["train"](env, 20)
    assert np.mean(earned[-6:]) > 32, earned
