"""Check an environment of one's own; find its fault, mend it, check again. Prints how many checks pass in the end."""

from __future__ import annotations

import argparse
from typing import Any

import gymnasium as gym
import numpy as np

from rolf.checks import check_all


class Oven(gym.Env[Any, int]):
    """Hold 200 °C. It can be wrong in a way that is easily overlooked."""

    observation_space = gym.spaces.Box(0.0, 400.0, (1,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def __init__(self, careless: bool = False) -> None:
        self.careless = careless

    def reset(self, *, seed: int | None = None, **_: Any) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.heat = np.full(1, self.np_random.uniform(20, 180), np.float32)
        return self.seen(), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.heat += 9.0 if action else -4.0
        miss = -abs(float(self.heat[0]) - 200.0)
        return self.seen(), miss, False, False, {}

    def seen(self) -> Any:
        return self.heat if self.careless else self.heat.copy()


gym.register("Oven-v0", entry_point=Oven, max_episode_steps=20)


def main(steps: int) -> int:
    careless = check_all(("Oven-v0", {"careless": True}), only=["no_aliasing", "seeding"], steps=steps)
    print(careless)
    assert [failure.check for failure in careless.failures] == ["check_no_aliasing"]
    mended = check_all("Oven-v0", steps=steps)
    print(mended)
    mended.require()
    return sum(result.state == "passed" for result in mended.results)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=30)
    print(main(parser.parse_args().steps))
