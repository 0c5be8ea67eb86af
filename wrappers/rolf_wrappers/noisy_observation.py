"""NoisyObservation: Gaussian noise on readings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self, SupportsFloat, SupportsIndex

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

from rolf_wrappers.parameters import given, rung, within
from rolf_wrappers.readings import Readings
from rolf_wrappers.streams import Streams

FARTHEST = 4.0
"""Noise is cut at this many standard deviations (6 in 100 000 draws), so that finite bounds stay finite."""


@dataclass(frozen=True, slots=True)
class Noise:
    """White noise, independent for each number and step."""

    deviation: float = 0.02
    """Standard deviation [units of ``scale``]."""

    def __post_init__(self) -> None:
        within(self, 0.0, 1e12, "deviation")

    @classmethod
    def at(cls, intensity: SupportsIndex) -> Self:
        """Return the noise at an intensity from 0 (off) to 7."""
        return cls(rung(intensity, (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8)))


class NoisyObservation(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Add Gaussian noise to readings, cut at four standard deviations.

    The bounds of the observation space are widened by what the noise can add.

    There is no vector version; ``make_vec(..., vectorization_mode="sync", wrappers=[...])`` wraps each environment.

    Example:
        >>> import gymnasium as gym
        >>> env = NoisyObservation(gym.make("Pendulum-v1"), Noise(deviation=0.25), dims=(0, 1))
        >>> env.observation_space
        Box([-2.0000002 -2.0000002 -8.       ], [2.0000002 2.0000002 8.       ], (3,), float32)
        >>> env.reset(seed=7)[0][2] == gym.make("Pendulum-v1").reset(seed=7)[0][2]
        np.True_

    Args:
        env: The environment.
        noise: The noise's parameters.
        scale: What one unit is, for all readings or for each: about as far as a reading usually goes.
        key: Name of the entry that is disturbed, where observations are a Dict.
        dims: Which numbers are disturbed; None for all.

    Change log:
        * v0.2.0 - Added
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        noise: Noise | Mapping[str, Any],
        *,
        scale: float | Sequence[float] = 1.0,
        key: str | None = None,
        dims: Sequence[int] | None = None,
    ) -> None:
        self.noise = given(Noise, noise)
        RecordConstructorArgs.__init__(self, noise=asdict(self.noise), scale=scale, key=key, dims=dims)
        gym.Wrapper.__init__(self, env)
        self._readings = Readings(env.observation_space, key, dims)
        self._deviation = self.noise.deviation * self._readings.scale(scale)
        self.streams = Streams(self, key or "", ("noise",))
        reach = FARTHEST * self._deviation
        self.observation_space = self._readings.space(self._readings.low - reach, self._readings.high + reach)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset, with noise on the first observation already."""
        observation, info = self.env.reset(seed=seed, options=options)
        self.streams.restart(self.env, seed)
        return self._noisy(observation), info

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Step, with noise on what is seen."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._noisy(observation), reward, terminated, truncated, info

    def _noisy(self, observation: Any) -> Any:
        """Return a new observation with noise on it."""
        draws = self.streams["noise"].standard_normal(self._readings.all)[self._readings.index]
        noise = self._deviation * draws.clip(-FARTHEST, FARTHEST)
        return self._readings.put(observation, self._readings.get(observation) + noise)
