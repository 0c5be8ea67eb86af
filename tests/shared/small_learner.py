"""A learner small enough to be trained hundreds of times, and real: actor and linear critic on CartPole."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import gymnasium
import torch
from pydantic import Field
from torch import Tensor, nn

from rolf_adapters.ppo import groups, parallel, seeds
from rolf_adapters.ppo.learner import Diverged, State


class Environment(groups.Group):
    id: str = "CartPole-v1"
    kwargs: dict[str, Any] = Field(default_factory=dict)


class Rollout(groups.Group):
    episodes: int = 4
    """Of all processes together."""


class Policy(groups.Group):
    width: int = 16
    stretch: float = 1.0
    """What the critic's features are multiplied by: with much of it, the critic diverges where the rate is large."""


class Training(groups.Training):
    learning_rate: float = Field(default=0.01, gt=0, le=1)
    passes: int = 5
    """Steps of the critic in an iteration."""


class Settings(groups.Group):
    environment: Environment = Environment()
    rollout: Rollout = Rollout()
    reward: groups.Reward = groups.Reward()
    policy: Policy = Policy()
    training: Training


class SmallLearner:
    def __init__(self, settings: Settings, seed: int) -> None:
        self._settings, self._seed = settings, seed
        self._env = gymnasium.make(settings.environment.id, **settings.environment.kwargs)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seeds.number(seed, "weights"))
            self._actor = nn.Sequential(
                nn.Linear(4, settings.policy.width), nn.Tanh(), nn.Linear(settings.policy.width, 2)
            )
        self._critic = nn.Linear(5, 1, bias=False)
        nn.init.zeros_(self._critic.weight)
        self._optimiser = torch.optim.Adam(self._actor.parameters())
        self._steps = 0

    def measures(self) -> tuple[str, ...]:
        return "rollout/return", "rollout/steps", "policy/entropy", "time/update", "evaluation/return", "own/later"

    def iterate(self, iteration: int) -> Mapping[str, float]:
        rate, count = self._settings.training.learning_rate, self._settings.rollout.episodes
        mine = [number for number in range(count) if number % parallel.size() == parallel.rank()]
        played = [self._play(("rollout", iteration, number)) for number in mine]
        seen, acted, returns = (torch.cat([each[part] for each in played]) for part in range(3))
        total = float(parallel.summed(torch.tensor(float(len(seen)))))
        features = torch.cat([seen, torch.ones(len(seen), 1)], 1) * self._settings.policy.stretch
        for _ in range(self._settings.training.passes):
            loss = ((self._critic(features)[:, 0] - returns) ** 2).sum() / 2 / total
            self._step(loss, self._critic.parameters())
            with torch.no_grad():
                self._critic.weight -= rate * self._critic.weight.grad
        advantages = returns - self._critic(features)[:, 0].detach()
        spread = parallel.moments(advantages)
        advantages = (advantages - spread.mean) / (math.sqrt(spread.variance) + 1e-6)
        logps = torch.log_softmax(self._actor(seen), 1).gather(1, acted[:, None])[:, 0]
        self._step(-(logps * advantages).sum() / total, self._actor.parameters())
        self._optimiser.param_groups[0]["lr"] = rate
        self._optimiser.step()
        self._steps += int(total)
        lengths = [length for each in parallel.gathered([len(each[0]) for each in played]) for length in each]
        return {
            "rollout/return": sum(lengths) / count,
            "rollout/steps": float(self._steps),
            "policy/entropy": math.nan,
            "time/update": 0.0,
        }

    def evaluate(self, iteration: int) -> Mapping[str, float]:
        played = [self._play(("evaluation", number), greedy=True) for number in range(4)]
        return {"evaluation/return": sum(len(each[0]) for each in played) / 4}

    def state(self) -> State:
        tensors = {f"actor.{name}": each.clone() for name, each in self._actor.state_dict().items()}
        tensors["critic"] = self._critic.weight.detach().clone()
        for number, each in self._optimiser.state_dict()["state"].items():
            tensors |= {f"adam.{number}.{name}": value.clone() for name, value in each.items()}
        return State(tensors, {"steps": self._steps})

    def load(self, state: State) -> None:
        shapes = {name: each.shape for name, each in self._actor.state_dict().items()}
        if any(state.tensors.get(f"actor.{name}", torch.empty(0)).shape != shape for name, shape in shapes.items()):
            raise ValueError(f"the state's actor is not of width {self._settings.policy.width}")
        self._actor.load_state_dict({name: state.tensors[f"actor.{name}"] for name in shapes})
        with torch.no_grad():
            self._critic.weight.copy_(state.tensors["critic"])
        whole = self._optimiser.state_dict()
        whole["state"] = {}
        for name, each in state.tensors.items():
            if name.startswith("adam."):
                _, number, kind = name.split(".")
                whole["state"].setdefault(int(number), {})[kind] = each.clone()
        self._optimiser.load_state_dict(whole)
        self._steps = state.values["steps"]

    def close(self) -> None:
        self._env.close()

    def _step(self, loss: Tensor, parameters: Any) -> None:
        """Make the gradients those of all processes."""
        listed = list(parameters)
        for each in listed:
            each.grad = None
        loss.backward()
        parallel.add_gradients(listed)
        if not all(bool(torch.isfinite(each.grad).all()) for each in listed):
            raise Diverged("a gradient is no finite number")

    def _play(self, name: tuple[str | int, ...], *, greedy: bool = False) -> tuple[Tensor, Tensor, Tensor]:
        """Play one episode; return observations, actions, and returns from each step on."""
        draws = seeds.generator(self._seed, *name)
        observation, _ = self._env.reset(seed=int(draws.integers(2**31)))
        seen, acted, done = [], [], False
        while not done:
            seen.append(torch.as_tensor(observation, dtype=torch.float32))
            with torch.no_grad():
                chances = torch.softmax(self._actor(seen[-1]), 0)
            action = int(chances.argmax()) if greedy else int(draws.random() >= float(chances[0]))
            acted.append(action)
            observation, _, terminated, truncated, _ = self._env.step(action)
            done = terminated or truncated
        discount = self._settings.reward.discount
        powers = torch.tensor([discount**step for step in range(len(seen))])
        returns = powers.cumsum(0).flip(0)
        return torch.stack(seen), torch.tensor(acted), returns


def build(settings: Settings, *, seed: int) -> SmallLearner:
    return SmallLearner(settings, seed)


def small_config(**changes: Any) -> dict[str, Any]:
    """Return a configuration of it as plain data; ``training__iterations=3`` changes a key."""
    plain: dict[str, Any] = {
        "experiment": {"kind": "small_learner", "seed": 7},
        "training": {"iterations": 6, "evaluate_every": 3},
        "logging": {"tensorboard": False, "checkpoint_every": 2},
    }
    for name, value in changes.items():
        group, _, key = name.partition("__")
        plain.setdefault(group, {})[key] = value
    return json.loads(json.dumps(plain))
