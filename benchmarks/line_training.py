"""Time the vector learner beside Stable-Baselines3's PPO on the same lines, and print the ratio.

    python benchmarks/line_training.py [--rows N] [--steps N] [--rounds N] [--json FILE]

Both collect whole shifts of the same lines in steps of three ticks and take the same passes of PPO over them, with as
many minibatches, in one process and one thread, turn by turn; each figure is a median of environment steps a second of
processor time. Both learn with actor and critic of two layers of 64 units on the plain observation. SB3's
MaskablePPO is shown beside it, and the learner that knows which numbers belong to a station.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3 import PPO
from stable_baselines3.common.logger import Logger

from rolf_adapters.ppo.vector.learner import build
from rolf_adapters.ppo.vector.settings import Environment, Policy, Rollout, Settings, Training
from rolf_adapters.sb3 import make_sb3_env

LINE, TICKS, EPOCHS, BATCHES = "linegym:LineEnv-v1", 3, 2, 10


def ours(layout: str, rows: int, steps: int) -> Callable[[], None]:
    """Return an iteration of the vector learner."""
    settings = Settings(
        environment=Environment(id=LINE, kwargs={"ticks_per_step": TICKS, "variants": "fit"}),
        rollout=Rollout(rows=rows, steps=steps, statistics=steps),
        policy=Policy.model_validate({"layout": layout}),
        # Passes that were ended early would make one side look quicker.
        training=Training(iterations=100, epochs=EPOCHS, minibatches=BATCHES, clips=0.2, target_kl=1e9),
    )
    learner, done = build(settings, seed=0), iter(range(100))
    return lambda: void(learner.iterate(next(done)))


def theirs(kind: Any, rows: int, steps: int) -> Callable[[], None]:
    """Return an iteration of SB3's."""
    envs = make_sb3_env(LINE, rows, variants="fit", ticks_per_step=TICKS)
    size = rows * steps // BATCHES
    model = kind("MlpPolicy", envs, n_steps=steps, n_epochs=EPOCHS, batch_size=size, seed=0, device="cpu")
    model.set_logger(Logger(None, []))  # its own makes a folder in each call
    return lambda: void(model.learn(rows * steps, reset_num_timesteps=False))


def void(_: object) -> None:
    """Return nothing."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=128)
    parser.add_argument("--steps", type=int, default=200, help="of each row in an iteration")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    torch.set_num_threads(1)
    makers: dict[str, Callable[[], Callable[[], None]]] = {
        "ours, plain": lambda: ours("plain", given.rows, given.steps),
        "SB3 PPO": lambda: theirs(PPO, given.rows, given.steps),
        "ours, by station": lambda: ours("line", given.rows, given.steps),
        "SB3 MaskablePPO": lambda: theirs(MaskablePPO, given.rows, given.steps),
    }
    turns = {name: maker() for name, maker in makers.items()}
    seconds: dict[str, list[float]] = {name: [] for name in turns}
    for number in range(given.rounds + 1):  # the first warms up
        for name, turn in turns.items():
            began = process_time()
            turn()
            if number:
                seconds[name].append(process_time() - began)
    rates = {name: given.rows * given.steps / statistics.median(each) for name, each in seconds.items()}
    for name, rate in rates.items():
        print(f"{name:<18}{rate:10.0f} steps a second of processor time")
    ratios = {
        "plain": rates["ours, plain"] / rates["SB3 PPO"],
        "masked": rates["ours, plain"] / rates["SB3 MaskablePPO"],
    }
    print(f"ours, plain, over SB3 PPO: {ratios['plain']:.2f}; over MaskablePPO: {ratios['masked']:.2f}")
    if given.json:
        given.json.write_text(json.dumps({"rates": rates, "ratios": ratios}, indent=1) + "\n")


if __name__ == "__main__":
    main()
