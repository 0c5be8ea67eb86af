"""Agents of Stable-Baselines3 learn: a line better than the threshold policy, errands in a real terminal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecEnv, VecNormalize
from trainable import MENU, SMALL, errands

from linegym.play import play
from linegym.policies import policy
from linegym.variants import Variant
from rolf_adapters.sb3 import Presentation, make_sb3_env

LINE, TERM = "linegym:LineEnv-v1", "termgym:TermEnv-v1"


def line(variant: Variant | str, rows: int, **settings: Any) -> VecEnv:
    return make_sb3_env(LINE, rows, seed=0, variants=variant, ticks_per_step=6, **settings)


def trained(
    variant: Variant | str, steps: int, *, rows: int, width: int, **given: Any
) -> tuple[MaskablePPO, VecNormalize]:
    """Return an agent that has played a line for so many steps."""
    env = VecNormalize(line(variant, rows), gamma=0.98)
    model = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=100,
        batch_size=25 * rows,
        gamma=0.98,
        ent_coef=0.003,
        learning_rate=lambda left: 1e-3 * left,
        policy_kwargs={"net_arch": [width, width]},
        seed=0,
        device="cpu",
        **given,
    )
    return model.learn(steps), env


def returns(model: MaskablePPO, env: VecNormalize, variant: Variant | str, episodes: int) -> np.ndarray[Any, Any]:
    """Return what the agent earns in episodes that it cannot have seen, without chance."""
    held = line(variant, episodes, evaluation=True)
    seen = held.reset()
    earned: list[float] = []
    while len(earned) < episodes:
        actions, _ = model.predict(env.normalize_obs(seen), action_masks=get_action_masks(held), deterministic=True)
        seen, _, _, infos = held.step(actions)
        earned += [info["episode"]["r"] for info in infos if "episode" in info]
    return np.array(earned)


def shipped(name: str, variant: Variant, episodes: int) -> np.ndarray[Any, Any]:
    """Return what a policy that comes with the line earns in the same episodes; it may act every tick."""
    return play(policy(name), [variant] * episodes, range(episodes)).returns


def least(differences: np.ndarray[Any, Any]) -> float:
    """Return the lower end of the 95 % interval of their mean."""
    return float(differences.mean() - 1.96 * differences.std() / np.sqrt(len(differences)))


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_maskable_ppo_learns_a_small_line_in_seconds() -> None:
    """Half the way from acting at random to the threshold policy, in episodes that it has not seen."""
    model, env = trained(SMALL, 64_000, rows=16, width=64, n_epochs=5)
    assert least(returns(model, env, SMALL, 128) - shipped("random", SMALL, 128)) > 12


@pytest.mark.nightly
@pytest.mark.timeout(1800)
def test_maskable_ppo_beats_the_threshold_policy() -> None:
    """On the same line in a minute and a half; paired by episode."""
    model, env = trained(SMALL, 400_000, rows=32, width=64, n_epochs=5)
    assert least(returns(model, env, SMALL, 128) - shipped("threshold", SMALL, 128)) > 0


def test_training_is_the_same_twice() -> None:
    """Same seed, same bits: weights too."""
    first, second = (trained(SMALL, 3200, rows=8, width=16, n_epochs=1)[0] for _ in range(2))
    for mine, theirs in zip(first.policy.parameters(), second.policy.parameters(), strict=True):
        assert np.array_equal(mine.detach().numpy(), theirs.detach().numpy())


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_ppo_learns_errands_of_two_commands_in_a_real_terminal() -> None:
    """The instruction says which two of four commands it takes; there are four steps for them."""
    said = Presentation(menu=MENU, texts={"instruction": 64, "cwd": 32}, drop=("stdout", "stderr"))
    env = make_sb3_env(TERM, 4, seed=0, presentation=said, tasks=errands(), max_steps=4, reward="success")
    model = PPO(
        "MlpPolicy", env, n_steps=64, batch_size=64, gamma=0.9, ent_coef=0.01, learning_rate=3e-3, seed=0, device="cpu"
    )
    model.learn(2048)
    assert np.mean(model.ep_success_buffer) > 0.8
    env.close()
