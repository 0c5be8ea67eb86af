"""FlatFloat: any observation of numbers as one vector of float32."""

from __future__ import annotations

from typing import Any, SupportsFloat

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.spaces.utils import flatdim, flatten, flatten_space
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import NDArray

_NUMBERS = (spaces.Box, spaces.Discrete, spaces.MultiBinary, spaces.MultiDiscrete)
_LIMITS = np.finfo(np.float32)


class FlatFloat(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Lay an observation of numbers out as one vector of float32, which every framework takes.

    Boxes are laid out in order, a ``Discrete`` and each number of a ``MultiDiscrete`` becomes one-hot, entries of a
    ``Dict`` come in the order of the space, nested ones too. The mask of possible actions is no reading: it is left out
    of the vector and goes into ``info`` under its name, unless a wrapper within has told one there, of its own actions.

    Float32 holds whole numbers up to 16 777 216 exactly; larger ones are rounded. Numbers beyond its range are put to
    its limits; bounds that are infinite stay so.

    There is no vector version; ``make_vec(..., vectorization_mode="sync", wrappers=[...])`` wraps each environment.

    Example:
        >>> import gymnasium as gym
        >>> env = FlatFloat(gym.make("linegym:LineEnv-v1", observation="dict"))
        >>> env.observation_space.shape, env.observation_space.dtype
        ((632,), dtype('float32'))
        >>> env.reset(seed=7)[1]["action_mask"].shape
        (545,)

    Args:
        env: The environment.
        mask: Name of the entry that is the mask of possible actions, where observations are a Dict that has it; None:
            every entry is a reading.

    Raises:
        TypeError: an entry is no numbers of a fixed count: a text, a sequence, a graph.

    Change log:
        * v0.2.0 - Added
    """

    def __init__(self, env: gym.Env[Any, Any], *, mask: str | None = "action_mask") -> None:
        RecordConstructorArgs.__init__(self, mask=mask)
        gym.Wrapper.__init__(self, env)
        self._from = env.observation_space
        self._mask: str | None = None
        if isinstance(self._from, spaces.Dict) and mask in self._from.spaces:
            self._mask = mask
            self._from = spaces.Dict({name: each for name, each in self._from.items() if name != mask})
        _check(self._from, "the observation")
        if flatdim(self._from) == 0:
            raise TypeError(f"{env.observation_space} leaves no numbers to observe")
        flat: Any = flatten_space(self._from)
        self.observation_space = spaces.Box(_bound(flat.low), _bound(flat.high), dtype=np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset; the first observation is flat already."""
        return self._flat(*self.env.reset(seed=seed, options=options))

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Step, and flatten what is seen."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        flat, told = self._flat(observation, info)
        return flat, reward, terminated, truncated, told

    def _flat(self, observation: Any, info: dict[str, Any]) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Return a new vector, and ``info`` with the mask."""
        numbers = np.asarray(flatten(self._from, observation))
        # A number is rounded as its bound is, so that it stays within it.
        vector = np.clip(numbers, _LIMITS.min, _LIMITS.max).astype(np.float32)
        if self._mask is None or self._mask in info:
            return vector, info
        return vector, {**info, self._mask: np.array(observation[self._mask])}


def _bound(bound: NDArray[Any]) -> NDArray[np.float32]:
    """Return a bound as float32: rounded as numbers are; what float32 cannot hold is its limit, infinity stays."""
    clipped = np.clip(bound, _LIMITS.min, _LIMITS.max)
    return np.where(np.isinf(bound), bound, clipped).astype(np.float32)


def _check(space: gym.Space[Any], where: str) -> None:
    """Raise TypeError, which names the entry, where a space is no numbers of a fixed count."""
    if isinstance(space, spaces.Dict):
        for name, each in space.items():
            _check(each, f"{where}[{name!r}]")
    elif isinstance(space, spaces.Tuple):
        for index, each in enumerate(space):
            _check(each, f"{where}[{index}]")
    elif not isinstance(space, _NUMBERS):
        text = "; make numbers of it first with EncodedObservation" if isinstance(space, spaces.Text) else ""
        raise TypeError(f"{where} is {space}, which is no numbers of a fixed count{text}")
