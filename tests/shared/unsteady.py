"""An environment in which one thing is never the same again, and the rest always."""

from __future__ import annotations

import os
import string
from typing import Any

import gymnasium as gym
from gymnasium.envs.registration import register
from gymnasium.spaces import Discrete, Text

TEXT = "it is 11:20 on Mon, 30 Nov"


class Unsteady(gym.Env[str, Any]):
    def __init__(self, what: str) -> None:
        self.observation_space, self.action_space = Text(100, charset=string.printable), Discrete(2)
        self._what = what

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        return TEXT, {}

    def step(self, action: Any) -> tuple[str, float, bool, bool, dict[str, Any]]:
        chance = os.urandom(8)
        text = chance.hex() if self._what == "text" else TEXT
        reward = int.from_bytes(chance, "big") / 2**64 if self._what == "reward" else 1.0
        return text, reward, True, False, {}


register(id="Unsteady-v0", entry_point=Unsteady)
