"""StickObservation: sensors that repeat themselves for a while."""

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
class Sticking:
    """How often and for how long a reading stays what it is."""

    probability: float = 0.005
    """Probability that a reading which is free sticks, a step."""
    steps: int = 10
    """For how many steps it is then repeated."""

    def __post_init__(self) -> None:
        within(self, 0.0, 1.0, "probability")
        within(self, 1, 1_000_000, "steps")

    @classmethod
    def at(cls, intensity: SupportsIndex) -> Self:
        """Return the sticking at an intensity from 0 (off) to 7."""
        return cls(probability=rung(intensity, (0.0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12)))


class StickObservation(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Let single readings stick, unannounced, as a broken sensor does.

    The whole observation that repeats because nothing arrives, and says so, is ``NetworkObservation``. The observation
    space stays what it is.

    There is no vector version; ``make_vec(..., vectorization_mode="sync", wrappers=[...])`` wraps each environment.

    Example:
        >>> import gymnasium as gym
        >>> env = StickObservation(gym.make("Pendulum-v1"), Sticking(probability=1, steps=2), dims=(2,))
        >>> readings = [env.reset(seed=7)[0]] + [env.step([2.0])[0] for _ in range(5)]
        >>> [round(float(reading[2]), 3) for reading in readings]
        [0.794, 0.794, 0.794, 3.425, 3.425, 3.425]

    Args:
        env: The environment.
        sticking: Its parameters.
        key: Name of the entry that is disturbed, where observations are a Dict.
        dims: Which numbers can stick; None for all.

    Change log:
        * v0.2.0 - Added
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        sticking: Sticking | Mapping[str, Any],
        *,
        key: str | None = None,
        dims: Sequence[int] | None = None,
    ) -> None:
        self.sticking = given(Sticking, sticking)
        RecordConstructorArgs.__init__(self, sticking=asdict(self.sticking), key=key, dims=dims)
        gym.Wrapper.__init__(self, env)
        self._readings = Readings(env.observation_space, key, dims)
        self.streams = Streams(self, key or "", ("onset",))
        self._left = np.zeros(self._readings.index.shape, dtype=np.int64)
        self._held: Floats = np.zeros(self._readings.index.shape)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset, and free every sensor."""
        observation, info = self.env.reset(seed=seed, options=options)
        self.streams.restart(self.env, seed)
        self._left[:] = 0
        return self._stuck(observation), info

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Step, and repeat the readings that stick."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._stuck(observation), reward, terminated, truncated, info

    def _stuck(self, observation: Any) -> Any:
        """Return a new observation in which stuck readings are those of the step when they stuck."""
        stuck = self._left > 0
        self._held = np.where(stuck, self._held, self._readings.get(observation))
        chance = self.streams["onset"].random(self._readings.all)[self._readings.index]
        sticks = ~stuck & (chance < self.sticking.probability)
        self._left = np.where(sticks, self.sticking.steps, np.maximum(self._left - 1, 0))
        return self._readings.put(observation, self._held)
