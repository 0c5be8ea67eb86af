"""DriftObservation: sensors that slowly lose their zero."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self, SupportsFloat, SupportsIndex

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs

from rolf_wrappers.parameters import given, rung, within
from rolf_wrappers.readings import Floats, Readings
from rolf_wrappers.streams import Streams


@dataclass(frozen=True, slots=True)
class Drift:
    """An offset that begins at a random step and grows one way, up or down, until it stays."""

    onset: float = 0.01
    """Probability that a reading which does not drift yet begins to, a step."""
    rate: float = 0.01
    """Growth of the offset a step [units of ``scale``]."""
    limit: float = 0.5
    """Largest offset [units of ``scale``]."""

    def __post_init__(self) -> None:
        within(self, 0.0, 1.0, "onset")
        within(self, 0.0, 1e12, "rate", "limit")

    @classmethod
    def at(cls, intensity: SupportsIndex) -> Self:
        """Return the drift at an intensity from 0 (off) to 7."""
        strength = rung(intensity, range(8))
        return cls(onset=0.005 * strength, rate=0.005 * strength, limit=0.25 * strength)


class DriftObservation(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Let readings drift away from the truth; every episode begins with all of them calibrated.

    The bounds of the observation space are widened by the largest offset.

    There is no vector version; ``make_vec(..., vectorization_mode="sync", wrappers=[...])`` wraps each environment.

    Example:
        >>> import gymnasium as gym
        >>> drift = Drift(onset=1, rate=0.5, limit=1)
        >>> env, true = DriftObservation(gym.make("Pendulum-v1"), drift, dims=(2,)), gym.make("Pendulum-v1")
        >>> (env.reset(seed=7)[0] - true.reset(seed=7)[0]).tolist()
        [0.0, 0.0, 0.0]
        >>> for _ in range(3):
        ...     print(round(float(env.step([0.0])[0][2] - true.step([0.0])[0][2]), 6))
        0.5
        1.0
        1.0

    Args:
        env: The environment.
        drift: Its parameters.
        scale: What one unit is, for all readings or for each: about as far as a reading usually goes.
        key: Name of the entry that is disturbed, where observations are a Dict.
        dims: Which numbers are disturbed; None for all.

    Change log:
        * v0.2.0 - Added
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        drift: Drift | Mapping[str, Any],
        *,
        scale: float | Sequence[float] = 1.0,
        key: str | None = None,
        dims: Sequence[int] | None = None,
    ) -> None:
        self.drift = given(Drift, drift)
        RecordConstructorArgs.__init__(self, drift=asdict(self.drift), scale=scale, key=key, dims=dims)
        gym.Wrapper.__init__(self, env)
        self._readings = Readings(env.observation_space, key, dims)
        self._scale = self._readings.scale(scale)
        self.streams = Streams(self, key or "", ("side", "onset"))
        moves = self.drift.onset > 0 and self.drift.rate > 0
        reach = self.drift.limit * self._scale if moves else np.zeros_like(self._scale)
        self.observation_space = self._readings.space(self._readings.low - reach, self._readings.high + reach)
        self._side: Floats = np.ones_like(self._scale)
        self._drifting = np.zeros(self._scale.shape, dtype=np.bool_)
        self._offset: Floats = np.zeros_like(self._scale)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset, and calibrate every sensor."""
        observation, info = self.env.reset(seed=seed, options=options)
        self.streams.restart(self.env, seed)
        self._drifting[:] = False
        self._offset = np.zeros_like(self._scale)
        sides = self.streams["side"].random(self._readings.all)[self._readings.index]
        self._side = np.where(sides < 0.5, -1.0, 1.0)
        return observation, info

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Step, and let the sensors drift on."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        chance = self.streams["onset"].random(self._readings.all)[self._readings.index]
        self._drifting |= chance < self.drift.onset
        self._offset = np.minimum(self._offset + self.drift.rate * self._drifting, self.drift.limit)
        readings = self._readings.get(observation) + self._side * self._offset * self._scale
        return self._readings.put(observation, readings), reward, terminated, truncated, info
