"""InfoMask: ``action_masks()`` of what ``info`` tells, and ``is_success``."""

from __future__ import annotations

from typing import Any, SupportsFloat

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import NDArray

from rolf_wrappers.menu_action import MASK


class InfoMask(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Offer ``action_masks()`` as MaskablePPO wants it, and ``info["is_success"]`` as SB3 counts it.

    The mask is ``info["action_mask"]``, where that tells one of these actions; else everything is possible. An
    environment that has ``action_masks()`` itself keeps it. ``is_success`` is ``info["success"]``, where there is one.

    Args:
        env: The environment; its actions are ``Discrete``, ``MultiDiscrete`` or ``MultiBinary``.

    Raises:
        TypeError: its actions are no choices.
    """

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        RecordConstructorArgs.__init__(self)
        gym.Wrapper.__init__(self, env)
        self._size = choices(env.action_space)
        self._own = env.has_wrapper_attr("action_masks")
        self._mask: NDArray[np.bool_] | None = None

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which choices are possible now: (choices,), of several numbers one after the other.

        Raises:
            gymnasium.error.ResetNeeded: no episode has begun.
        """
        if self._mask is None:
            raise gym.error.ResetNeeded("no episode has begun, so nothing is possible yet; call reset() first")
        return self._mask.copy()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset."""
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, self._told(info)

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Step."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, reward, terminated, truncated, self._told(info)

    def _told(self, info: dict[str, Any]) -> dict[str, Any]:
        mask = self.env.get_wrapper_attr("action_masks")() if self._own else info.get(MASK)
        # A mask of another size is of other choices: LineEnv tells that of its flat actions whatever actions it takes.
        fits = mask is not None and np.shape(mask) == (self._size,)
        self._mask = np.array(mask, np.bool_) if fits else np.ones(self._size, np.bool_)
        return {**info, "is_success": bool(info["success"])} if "success" in info else info


def choices(space: gym.Space[Any]) -> int:
    """Return how many values all numbers of an action can have together: as many as a mask has.

    Raises:
        TypeError: actions are no choices.
    """
    if isinstance(space, spaces.Discrete):
        return int(space.n)
    if isinstance(space, spaces.MultiDiscrete):
        return int(space.nvec.sum())
    if isinstance(space, spaces.MultiBinary):
        return 2 * int(np.prod(space.shape))
    raise TypeError(f"actions are {space}, which are no choices that a mask could rule out")
