"""ImpulseObservation: single readings far off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self, SupportsFloat, SupportsIndex

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs

from rolf_wrappers.parameters import given, rung, within
from rolf_wrappers.readings import Readings
from rolf_wrappers.streams import Streams


@dataclass(frozen=True, slots=True)
class Impulses:
    """Outliers, independent for each number and step, up or down by one size."""

    size: float = 1.0
    """How far off a reading is [units of ``scale``]."""
    probability: float = 0.01
    """Probability that a reading is off."""

    def __post_init__(self) -> None:
        within(self, 0.0, 1e12, "size")
        within(self, 0.0, 1.0, "probability")

    @classmethod
    def at(cls, intensity: SupportsIndex) -> Self:
        """Return the impulses at an intensity from 0 (off) to 7."""
        return cls(probability=rung(intensity, (0.0, 0.01, 0.02, 0.04, 0.08, 0.16, 0.24, 0.32)))


class ImpulseObservation(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Throw single readings off by a fixed size, up or down.

    The bounds of the observation space are widened by that size.

    There is no vector version; ``make_vec(..., vectorization_mode="sync", wrappers=[...])`` wraps each environment.

    Example:
        >>> import gymnasium as gym
        >>> env = ImpulseObservation(gym.make("Pendulum-v1"), Impulses(size=2, probability=1), dims=(0,))
        >>> true = gym.make("Pendulum-v1").reset(seed=7)[0]
        >>> (env.reset(seed=7)[0] - true).tolist()
        [2.0, 0.0, 0.0]

    Args:
        env: The environment.
        impulses: Their parameters.
        scale: What one unit is, for all readings or for each: about as far as a reading usually goes.
        key: Name of the entry that is disturbed, where observations are a Dict.
        dims: Which numbers are disturbed; None for all.

    Change log:
        * v0.2.0 - Added
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        impulses: Impulses | Mapping[str, Any],
        *,
        scale: float | Sequence[float] = 1.0,
        key: str | None = None,
        dims: Sequence[int] | None = None,
    ) -> None:
        self.impulses = given(Impulses, impulses)
        RecordConstructorArgs.__init__(self, impulses=asdict(self.impulses), scale=scale, key=key, dims=dims)
        gym.Wrapper.__init__(self, env)
        self._readings = Readings(env.observation_space, key, dims)
        self._size = self.impulses.size * self._readings.scale(scale)
        self.streams = Streams(self, key or "", ("impulse",))
        reach = self._size if self.impulses.probability > 0 else np.zeros_like(self._size)
        self.observation_space = self._readings.space(self._readings.low - reach, self._readings.high + reach)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset; the first observation can be off already."""
        observation, info = self.env.reset(seed=seed, options=options)
        self.streams.restart(self.env, seed)
        return self._thrown_off(observation), info

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Step, and throw readings off."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._thrown_off(observation), reward, terminated, truncated, info

    def _thrown_off(self, observation: Any) -> Any:
        """Return a new observation in which some readings are off."""
        chance, side = self.streams["impulse"].random((2, self._readings.all))[:, self._readings.index]
        impulses = (chance < self.impulses.probability) * np.where(side < 0.5, -1.0, 1.0)
        return self._readings.put(observation, self._readings.get(observation) + self._size * impulses)
