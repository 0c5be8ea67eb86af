"""Step many real shells in one process. Prints the steps a second."""

from __future__ import annotations

import argparse
import time

import gymnasium as gym

import termgym


def main(shells: int, steps: int) -> float:
    envs = gym.make_vec("termgym:TermEnv-v1", num_envs=shells)
    envs.reset(seed=0)
    actions = tuple(termgym.plan(f"n=$((n+{row}))") for row in range(shells))
    begun = time.perf_counter()
    for _ in range(steps):
        envs.step(actions)
    rate = shells * steps / (time.perf_counter() - begun)
    observations, *_ = envs.step((termgym.plan("echo $n"),) * shells)
    assert [int(out) for out in observations["stdout"]] == [row * steps for row in range(shells)]
    envs.close()
    return rate


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shells", type=int, default=64)
    parser.add_argument("--steps", type=int, default=20)
    arguments = parser.parse_args()
    print(main(arguments.shells, arguments.steps))
