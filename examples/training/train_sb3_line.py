"""Train MaskablePPO of Stable-Baselines3 on many lines at once. Prints the mean return in episodes it has not seen."""

from __future__ import annotations

import argparse

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks
from stable_baselines3.common.vec_env import VecEnv, VecNormalize

from rolf_adapters.sb3 import make_sb3_env

VARIANT = "serial/thermocouple/profinet/bearing"
ROWS, DECISIONS = 32, 100  # a decision each six ticks of a shift of 600


def lines(rows: int, *, evaluation: bool = False) -> VecEnv:
    return make_sb3_env("linegym:LineEnv-v1", rows, seed=0, variants=VARIANT, ticks_per_step=6, evaluation=evaluation)


def main(steps: int) -> float:
    env = VecNormalize(lines(ROWS), gamma=0.98)
    model = MaskablePPO(
        "MlpPolicy", env, n_steps=DECISIONS, batch_size=800, n_epochs=5, gamma=0.98, ent_coef=0.003,
        learning_rate=lambda left: 1e-3 * left, seed=0, verbose=1, device="cpu",
    )  # fmt: skip
    model.learn(steps)
    held_out = lines(64, evaluation=True)
    seen, earned = held_out.reset(), np.zeros(64)
    for _ in range(DECISIONS):
        masks = get_action_masks(held_out)
        actions, _ = model.predict(env.normalize_obs(seen), action_masks=masks, deterministic=True)
        seen, rewards, _, _ = held_out.step(actions)
        earned += rewards
    return float(earned.mean())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=2_000_000)
    torch.set_num_threads(1)
    print(main(parser.parse_args().steps))
