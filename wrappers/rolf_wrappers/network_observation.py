"""NetworkObservation: what is seen arrives late, in bursts, or not at all."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, SupportsFloat

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

from rolf_wrappers.network import MECHANISMS, Link, Network
from rolf_wrappers.parameters import given
from rolf_wrappers.streams import Streams


class NetworkObservation(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Send observations through a network that delays and loses them; see ``Network``.

    The newest observation that has arrived is repeated until a newer one does, and ``info["observation_age"]`` tells
    its age [steps]: 0 is fresh. The first observation of an episode always arrives. Reward and ends are not delayed:
    they belong to the trainer, not to the agent.

    There is no vector version; ``make_vec(..., vectorization_mode="sync", wrappers=[...])`` wraps each environment.

    Example:
        >>> import gymnasium as gym
        >>> env = NetworkObservation(gym.make("CartPole-v1"), Network(latency=1.5, to_bad=0.2))
        >>> ages = [env.reset(seed=3)[1]["observation_age"]]
        >>> ages += [env.step(step % 2)[4]["observation_age"] for step in range(12)]
        >>> ages
        [0, 1, 1, 2, 2, 1, 0, 1, 2, 3, 4, 5, 1]

    Args:
        env: The environment, with observations of any kind.
        network: The network's parameters.
        key: Name of the one entry that travels, where observations are a Dict; its age is then
            ``info[f"{key}_age"]``. None for the whole observation.

    Raises:
        KeyError: the observation has no such entry.

    Change log:
        * v0.2.0 - Added
    """

    def __init__(self, env: gym.Env[Any, Any], network: Network | Mapping[str, Any], *, key: str | None = None) -> None:
        self.network = given(Network, network)
        RecordConstructorArgs.__init__(self, network=asdict(self.network), key=key)
        gym.Wrapper.__init__(self, env)
        if key is not None:
            names = list(env.observation_space.spaces) if isinstance(env.observation_space, gym.spaces.Dict) else []
            if key not in names:
                raise KeyError(f"key is {key!r}; the observation has {', '.join(map(repr, names)) or 'no entries'}")
        self._key = key
        self._age = f"{key or 'observation'}_age"
        self.streams = Streams(self, key or "", MECHANISMS)
        self._link = Link(self.network, self.streams)
        self._seen: Any = None
        self._sent = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset; nothing of the episode before is under way any more."""
        observation, info = self.env.reset(seed=seed, options=options)
        self.streams.restart(self.env, seed)
        self._link.restart()
        self._seen, self._sent = copy.deepcopy(self._content(observation)), 0
        return observation, {**info, self._age: 0}

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Step, and see what has arrived."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        arrived = self._link.carry(self._content(observation))
        if arrived is not None:
            self._seen, self._sent = arrived.content, arrived.sent
        seen = copy.deepcopy(self._seen)
        if self._key is not None:
            seen = {**observation, self._key: seen}
        return seen, reward, terminated, truncated, {**info, self._age: self._link.step - self._sent}

    def _content(self, observation: Any) -> Any:
        """Return what travels."""
        return observation if self._key is None else observation[self._key]
