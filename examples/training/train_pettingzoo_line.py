"""Train three agents that share a small line by REINFORCE. Prints how much more they earn in episodes never seen."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Categorical

from linegym.blueprint import Plant, Station
from linegym.plant import SINK, SOURCE, Fault
from linegym.templates import CustomTemplate
from linegym.variants import Variant
from rolf_adapters.pettingzoo import parallel_env

STATIONS = (Station(4096, (SOURCE,), (1,), (0, 0)), Station(4096, (1,), (SINK,), (1, 0)))
PLANT = Plant(STATIONS, (4,), dominant=Fault.BEARING, allowed=(Fault.BEARING, Fault.JAM), fault=0.9, noise=1.0)
SMALL = Variant(CustomTemplate("small", PLANT))
LINES, TICKS = 8, 4  # that are learned from at a time; from one decision to the next


def lines(number: int, **settings: Any) -> list[Any]:
    return [parallel_env("linegym:LineEnv-v1", variant=SMALL, horizon=200, **settings) for _ in range(number)]


def step(env: Any, actions: dict[str, int]) -> tuple[Any, float]:
    """Act, and do nothing until the next decision; all three are paid the same."""
    told = [env.step(actions if tick == 0 else dict.fromkeys(actions, 0)) for tick in range(TICKS)]
    return told[-1][0], sum(rewards["dispatch"] for _, rewards, *_ in told)


def play(envs: list[Any], actors: dict[str, nn.Module], seed: int) -> tuple[Tensor, Tensor]:
    """Return the logarithm of how likely what the three did was, and what it earned: (decisions, lines) each."""
    seen, likely, earned = [env.reset(seed=seed + at)[0] for at, env in enumerate(envs)], [], []
    while envs[0].agents:
        chosen, logs = {}, []
        for agent, actor in actors.items():
            view, mask = (np.stack([each[agent][part] for each in seen]) for part in ("observation", "action_mask"))
            chances = Categorical(logits=actor(torch.from_numpy(view)).masked_fill(torch.from_numpy(mask) == 0, -1e9))
            chosen[agent] = chances.sample()
            logs.append(chances.log_prob(chosen[agent]))
        told = [step(env, {agent: int(acts[at]) for agent, acts in chosen.items()}) for at, env in enumerate(envs)]
        seen, rewards = zip(*told, strict=True)
        likely.append(sum(logs))
        earned.append(rewards)
    return torch.stack(likely), torch.tensor(earned)


def main(updates: int, tests: int, seed: int) -> float:
    torch.manual_seed(seed)
    envs, held_out, actors, scores = lines(LINES), lines(tests, evaluation=True), {}, []
    for agent in envs[0].possible_agents:
        sees, can = envs[0].observation_space(agent)["observation"].shape[0], envs[0].action_space(agent).n
        actors[agent] = nn.Sequential(nn.Linear(sees, 64), nn.Tanh(), nn.Linear(64, can))
    optimiser = torch.optim.Adam(nn.ModuleDict(actors).parameters(), lr=0.01)
    for update in range(updates + 1):
        if update in (0, updates):
            with torch.no_grad():
                scores.append(float(play(held_out, actors, seed=0)[1].sum(0).mean()))
            print(f"a shift earns {scores[-1]:.1f} after {update} updates")
        likely, earned = play(envs, actors, seed=LINES * (1000 * seed + update))
        for at in reversed(range(len(earned) - 1)):
            earned[at] += 0.9 * earned[at + 1]  # what follows counts too, the less the later
        better = earned - earned.mean(1, keepdim=True)  # than the other lines at that time
        optimiser.zero_grad()
        (-(likely * better).mean() / better.std()).backward()
        optimiser.step()
    return scores[-1] - scores[0]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for name, number in {"updates": 24, "tests": 32, "seed": 0}.items():
        parser.add_argument(f"--{name}", type=int, default=number)
    torch.set_num_threads(1)
    print(main(**vars(parser.parse_args())))
