"""TellShift: a wrapper that tells at the end of a shift what was counted over all of it."""

from __future__ import annotations

from typing import Any, SupportsFloat

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs

from linegym.actions import single_command
from linegym.information import KEYS
from linegym.tally import KEY, Tally


class TellShift(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Add ``info["shift"]`` to the last step of an episode of ``LineEnv``: see ``linegym.tally.COUNTED``.

    Nothing of it is told before, for who knows how many of its claims were right knows the faults. It counts what is
    played through it from a reset on; what ``env.unwrapped.restore`` brings back it does not know.

    Example:
        >>> import gymnasium as gym, linegym
        >>> env = TellShift(gym.make("linegym:LineEnv-v1", horizon=2))
        >>> _ = env.reset(seed=0)
        >>> *_, info = env.step(linegym.close(0))
        >>> "shift" in info
        False
        >>> *_, info = env.step(0)
        >>> info["shift"]["invalid"]
        1

    Change log:
        * v0.1.0 - Added
    """

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        RecordConstructorArgs.__init__(self)
        gym.Wrapper.__init__(self, env)
        world: Any = env.unwrapped
        self._kind: str = world.settings.action
        self._tally = Tally(1)
        self._faults = np.zeros((1, 0), np.int16)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset, and begin to count."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._tally, self._faults = Tally(1), info["true_faults"][None]
        return observation, info

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Step and count; tell if it was the last."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        facts = np.array([[int(info[name]) for name in KEYS]], np.int32)
        self._tally.note(single_command(action, self._kind)[None], self._faults, facts)
        self._faults = info["true_faults"][None]
        if truncated:
            info = {**info, KEY: self._tally.told()}
        return observation, reward, terminated, truncated, info
