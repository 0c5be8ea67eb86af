"""Look around in a real terminal, then let the task's oracle repair the repository. Prints the return."""

from __future__ import annotations

import argparse

import gymnasium as gym

import termgym


def main(steps: int) -> float:
    env = gym.make("termgym:TermEnv-v1", task="git-dirty-pull")
    observation, _ = env.reset(seed=7)
    print(observation["instruction"])
    total = 0.0
    plans = [termgym.plan("ls -a ~"), *(plan.model_dump_json() for plan in env.unwrapped.task.oracle)]
    for plan in plans[:steps]:
        observation, reward, terminated, truncated, _ = env.step(plan)
        print(observation["stdout"], observation["stderr"], sep="")
        total += float(reward)
        if terminated or truncated:
            break
    env.close()
    return total


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=30)
    print(main(parser.parse_args().steps))
