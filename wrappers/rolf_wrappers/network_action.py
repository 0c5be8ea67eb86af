"""NetworkAction: what is done arrives late, in bursts, or not at all."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, SupportsFloat

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs

from rolf_wrappers.network import MECHANISMS, Link, Network
from rolf_wrappers.parameters import given
from rolf_wrappers.streams import Streams

IDLE = -1
"""Age of an action that nobody sent."""


class NetworkAction(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Send actions through a network that delays and loses them; see ``Network``.

    In a step in which nothing new arrives, the action of the step before goes on, as a setpoint does; or ``idle`` is
    done, where actions are commands that must not be repeated. ``info["executed_action"]`` tells what was done,
    ``info["action_age"]`` how long ago it was sent [steps]: 0 is fresh, -1 is ``idle``.

    There is no vector version; ``make_vec(..., vectorization_mode="sync", wrappers=[...])`` wraps each environment.

    Example:
        >>> import gymnasium as gym
        >>> env = NetworkAction(gym.make("CartPole-v1"), Network(latency=1.5, to_bad=0.2))
        >>> _ = env.reset(seed=3)
        >>> infos = [env.step(step % 2)[4] for step in range(12)]
        >>> [info["executed_action"] for info in infos]
        [0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0]
        >>> [info["action_age"] for info in infos]
        [0, 1, 2, 1, 1, 2, 1, 2, 2, 3, 4, 1]

    Args:
        env: The environment.
        network: The network's parameters.
        idle: Action that is done whenever nothing new arrives. None: the last one goes on, and the first action of an
            episode always arrives at once.

    Raises:
        ValueError: ``idle`` is no action of the environment.

    Change log:
        * v0.2.0 - Added
    """

    def __init__(self, env: gym.Env[Any, Any], network: Network | Mapping[str, Any], *, idle: Any = None) -> None:
        self.network = given(Network, network)
        plain = idle.tolist() if isinstance(idle, (np.ndarray, np.generic)) else idle
        RecordConstructorArgs.__init__(self, network=asdict(self.network), idle=plain)
        gym.Wrapper.__init__(self, env)
        self._idle = None if plain is None else _action(env.action_space, plain)
        self.streams = Streams(self, "", MECHANISMS)
        self._link = Link(self.network, self.streams)
        self._last: Any = None
        self._sent = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset; no action of the episode before is under way any more."""
        observation, info = self.env.reset(seed=seed, options=options)
        self.streams.restart(self.env, seed)
        self._link.restart()
        self._last, self._sent = None, 0
        return observation, info

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Send the action, and step with what has arrived."""
        arrived = self._link.carry(action)
        if arrived is not None:
            self._last, self._sent = arrived.content, arrived.sent
        elif self._last is None and self._idle is None:
            self._last, self._sent = copy.deepcopy(action), self._link.step
        idle = arrived is None and self._idle is not None
        executed = copy.deepcopy(self._idle if idle else self._last)
        observation, reward, terminated, truncated, info = self.env.step(executed)
        age = IDLE if idle else self._link.step - self._sent
        told = {"executed_action": copy.deepcopy(executed), "action_age": age}
        return observation, reward, terminated, truncated, {**info, **told}


def _action(space: gym.Space[Any], plain: Any) -> Any:
    """Return an action that was given as plain data."""
    action = np.asarray(plain, dtype=space.dtype) if isinstance(plain, list) else plain
    if not space.contains(action):
        raise ValueError(f"idle is {plain!r}, which is no action of this environment; give one of {space}")
    return action
