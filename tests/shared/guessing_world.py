"""A world whose best policy is known: it shows two numbers and asks for them."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

ID = "rolf-test/Guess-v0"


class Guess(gym.Env[Any, Any]):
    """Shows two numbers, pays half a point for each part of the answer that is right; cut off after ``length`` steps.

    The second number's neighbour is masked. ``parts=False`` asks for the second number alone, counted from 5.
    """

    def __init__(self, length: int = 8, parts: bool = True, nothing_at: int = -1) -> None:
        self.observation_space = gym.spaces.Box(0, 1, (7,), np.float32)
        self.action_space: gym.Space[Any] = (
            gym.spaces.MultiDiscrete([3, 4]) if parts else gym.spaces.Discrete(4, start=5)
        )
        self._length, self._parts, self._nothing_at = length, parts, nothing_at
        self._wanted = np.zeros(2, np.int64)
        self._step = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self._step = 0
        return self._shown()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if not self.action_space.contains(action):
            raise ValueError(f"action {action!r} is not of {self.action_space}")
        answer = np.asarray(action) if self._parts else np.array([self._wanted[0], action - 5])
        if answer[1] == self._masked():
            raise ValueError(f"action {action!r} is masked")
        reward = float((answer == self._wanted).mean())
        self._step += 1
        if self._step == self._nothing_at:
            reward = float("nan")
        seen, info = self._shown()
        return seen, reward, False, self._step == self._length, info

    def _masked(self) -> int:
        return int(self._wanted[1] + 1) % 4

    def _shown(self) -> tuple[Any, dict[str, Any]]:
        self._wanted = self.np_random.integers((3, 4))
        seen = np.zeros(7, np.float32)
        seen[self._wanted[0]] = seen[3 + self._wanted[1]] = 1
        mask = np.ones(7 if self._parts else 4, np.int8)
        mask[self._masked() + (3 if self._parts else 0)] = 0
        return seen, {"action_mask": mask, "asked": {"at": self._step}}


gym.register(ID, entry_point=Guess, disable_env_checker=True)
