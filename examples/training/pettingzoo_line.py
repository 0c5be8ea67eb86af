"""Let three agents run a line together: one finds faults by rule, two choose at random. Prints the line's return."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from linegym.actions import describe
from rolf_adapters.pettingzoo import aec_env


class AtRandom:
    """Choose among what is possible."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def act(self, observation: dict[str, Any]) -> int:
        return int(self.rng.choice(np.flatnonzero(observation["action_mask"])))


class FirstAlarm(AtRandom):
    """Open a work order for the first alarm, with a fault class drawn at random; else do nothing."""

    def act(self, observation: dict[str, Any]) -> int:
        claims = np.flatnonzero(observation["action_mask"][73:])  # ten for each station; 72 inspections come before
        return 73 + int(self.rng.choice(claims[:8])) if len(claims) else 0


def main(steps: int, seed: int) -> float:
    line = aec_env("linegym:LineEnv-v1", horizon=steps)
    agents = {
        "diagnosis": FirstAlarm(seed),
        "logistics": AtRandom(seed + 1),
        "dispatch": AtRandom(seed + 2),
    }
    total = 0.0
    line.reset(seed=seed)
    for name in line.agent_iter():
        observation, _, _, truncated, _ = line.last()
        action = None if truncated else agents[name].act(observation)
        if action and name == "diagnosis":
            print(describe(int(line.unwrapped.role(name).actions[action])))
        line.step(action)
        if line.agent_selection == "diagnosis" and action is not None:  # all three have acted
            total += line.rewards["diagnosis"]
    return total


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print(main(given.steps, given.seed))
