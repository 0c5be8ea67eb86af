"""A policy for one ``LineEnv``: policies decide for many rows, this hands them one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linegym.plant import HORIZON
from linegym.policies.policy import Lineup, Policy
from linegym.variants import Variant


class Single:
    """Plays one environment with a policy.

    >>> import gymnasium as gym
    >>> from linegym.policies import policy
    >>> env = gym.make("linegym:LineEnv-v1")
    >>> player = Single(policy("cusum"))
    >>> seen, info = env.reset(seed=0)
    >>> player.begin(env.unwrapped.variant, info)
    >>> seen, reward, _, over, info = env.step(player.act(seen, info))
    >>> env.close()
    """

    def __init__(self, policy: Policy, horizon: int = HORIZON) -> None:
        self.policy = policy
        self.horizon = horizon

    def begin(self, variant: Variant, info: dict[str, Any]) -> None:
        """Get ready for the episode that a reset has begun.

        Args:
            variant: ``env.unwrapped.variant``.
            info: What the reset returned.
        """
        self.policy.begin(Lineup.of([variant], [info["seed"]], [info["episode_index"]], self.horizon))

    def act(self, observation: NDArray[np.float32], info: dict[str, Any]) -> int:
        """Return the flat action for what was seen; the environment tells the mask (``masks=True``)."""
        infos = {"true_faults": info["true_faults"][None]} if self.policy.truthful else {}
        return int(self.policy.act(observation[None], info["action_mask"][None] == 1, infos)[0])
