"""What a step costs where it is taken: here, in AsyncVectorEnv, by a call of Ray's a step, in a pool of episodes.

``python benchmarks/ray_overhead.py [--episodes N] [--json FILE]``. All ways are taken in turn, several times over, so
that what else the machine does falls on all of them; the table has the best time of each, and ratios to the first.
Time is wall time: with one actor or environment at a time nothing else of ours runs beside what is measured.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import ray

from rolf.evaluation.policy import Start
from rolf.variant import Variant
from rolf_adapters.ray_pool import EpisodePool
from rolf_adapters.ray_pool.player import Player

ENV_ID, HORIZON = "linegym:LineEnv-v1", 200
ROUNDS = 5
NOTHING = 0


class Idle:
    """Does nothing, so that the step and what is round it is all that there is to measure."""

    def begin(self, start: Start) -> None:
        """Nothing is remembered."""

    def act(self, observation: Any, info: Mapping[str, Any]) -> int:  # noqa: ARG002 - it needs none of it
        return NOTHING


class Alone:
    """An environment in an actor of its own, called step by step."""

    def __init__(self) -> None:
        self._env = gym.make(ENV_ID, horizon=HORIZON)

    def reset(self, seed: int) -> Any:
        return self._env.reset(seed=seed)

    def step(self, action: int) -> Any:
        return self._env.step(action)


def loop(env: gym.Env[Any, Any], steps: int) -> None:
    """Take steps in this process."""
    for step in range(steps):
        if step % HORIZON == 0:
            env.reset(seed=step)
        env.step(NOTHING)


def vector(envs: gym.vector.VectorEnv[Any, Any, Any], steps: int) -> None:
    """Take steps in another process, by shared memory."""
    envs.reset(seed=0)
    for _ in range(steps):
        envs.step([NOTHING])


def calls(actor: Any, steps: int) -> None:
    """Take steps in an actor of Ray's, a call each."""
    for step in range(steps):
        if step % HORIZON == 0:
            ray.get(actor.reset.remote(seed=step))
        ray.get(actor.step.remote(NOTHING))


def play(player: Callable[[list[Variant]], Any], steps: int) -> None:
    """Take steps in whole episodes."""
    player([Variant(ENV_ID, {"horizon": HORIZON}, seed) for seed in range(steps // HORIZON)])


def here(player: Player, variants: list[Variant]) -> None:
    """Play episodes in this process, with all that is kept of them."""
    for index, variant in enumerate(variants):
        player.play(index, variant, 0)


def measure(episodes: int) -> dict[str, float]:
    """Return the best time a step of each way [µs]."""
    env = gym.make(ENV_ID, horizon=HORIZON)
    envs = gym.make_vec(ENV_ID, num_envs=1, vectorization_mode="async", horizon=HORIZON)
    player = Player()
    player.take(Idle())
    with EpisodePool(1, cpus=1.0) as pool:
        remote: Any = ray.remote(num_cpus=0)(Alone)
        actor = remote.remote()
        ways: dict[str, Callable[[int], None]] = {
            "in-process": partial(loop, env),
            "in-process, episodes kept": partial(play, partial(here, player)),
            "EpisodePool (1 actor)": partial(play, partial(pool.play, Idle())),
            "AsyncVectorEnv (1 row)": partial(vector, envs),
            "a call of Ray's a step": partial(calls, actor),
        }
        best = dict.fromkeys(ways, float("inf"))
        for number in range(1 + ROUNDS):
            for name, way in ways.items():
                steps = episodes * HORIZON
                begun = time.perf_counter()
                way(steps)
                if number:  # the first warms up
                    best[name] = min(best[name], (time.perf_counter() - begun) / steps * 1e6)
    envs.close()
    player.close()
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=5)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    best = measure(given.episodes)
    first = next(iter(best.values()))
    for name, value in best.items():
        print(f"{name:28} {value:9.1f} us a step {value / first:8.2f} x")
    if given.json:
        given.json.write_text(json.dumps({"env": ENV_ID, "horizon": HORIZON, "us_per_step": best}, indent=1) + "\n")


if __name__ == "__main__":
    main()
