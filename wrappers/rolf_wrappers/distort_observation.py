"""DistortObservation: a thermocouple's law, a slow wave and impulses in proportion to the reading."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self, SupportsFloat, SupportsIndex

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs

from rolf_wrappers.parameters import given, rung, within
from rolf_wrappers.readings import Floats, Readings
from rolf_wrappers.streams import Streams

IMPULSES = (0.0, 0.01, 0.04, 0.08, 0.16, 0.32, 0.48, 0.64)
"""Impulse at each intensity. Scaled with the wave, it would drown in it: 0.2 % of the reading against 1.4 % (RMS)."""
DETUNING = 0.1
"""Largest deviation of a scattered wave's period, as a share of it."""


@dataclass(frozen=True, slots=True)
class Distortion:
    """The law ``reading = true * (1 + sine * sin(2 pi t / period) + impulse * Bernoulli(impulse_probability))``."""

    sine: float = 0.02
    """Amplitude of the wave, as a share of the reading."""
    period: float = 60.0
    """Period of the wave [s]."""
    impulse: float = 0.01
    """Size of an impulse, as a share of the reading."""
    impulse_probability: float = 0.05
    """Probability of an impulse, for each number at each step."""
    scattered: bool = False
    """Whether every number has a wave of its own, with random phase and a period up to 10 % off, and impulses of both
    signs. Otherwise all share one wave, which a filter can take out."""

    def __post_init__(self) -> None:
        within(self, 0.0, math.inf, "sine", "impulse")
        within(self, 0.0, 1.0, "impulse_probability")
        within(self, 1e-9, 1e12, "period")

    @classmethod
    def at(cls, intensity: SupportsIndex) -> Self:
        """Return the law at an intensity: 0 is off, 1 the law as defined above, scattered and stronger from 2 to 7."""
        impulse = rung(intensity, IMPULSES)
        strength = IMPULSES.index(impulse)
        return cls(sine=0.02 * strength, impulse=impulse, scattered=strength > 1)


class DistortObservation(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Distort readings as a bad thermocouple does; see ``Distortion`` for the law.

    Time is 0 at a reset. The bounds of the observation space follow the law; infinite ones stay infinite.

    There is no vector version; ``make_vec(..., vectorization_mode="sync", wrappers=[...])`` wraps each environment.

    Example:
        >>> import gymnasium as gym
        >>> env = DistortObservation(gym.make("Pendulum-v1"), Distortion.at(1), dims=(0, 1), step_seconds=5)
        >>> env.observation_space
        Box([-1.0300001 -1.0300001 -8.       ], [1.0300001 1.0300001 8.       ], (3,), float32)
        >>> env.reset(seed=7)[0].tolist() == gym.make("Pendulum-v1").reset(seed=7)[0].tolist()  # the wave begins at 0
        True

    Args:
        env: The environment.
        distortion: The law's parameters.
        step_seconds: How long one step is [s].
        zero: The reading at which a share of it is nothing: 2 % of a temperature in degrees Celsius counts from 0 °C,
            or from ``zero=-273.15``, absolute zero.
        key: Name of the entry that is distorted, where observations are a Dict.
        dims: Which numbers are distorted; None for all.

    Raises:
        ValueError: the wave would be zero at every step.

    Change log:
        * v0.2.0 - Added
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        distortion: Distortion | Mapping[str, Any],
        *,
        step_seconds: float = 1.0,
        zero: float = 0.0,
        key: str | None = None,
        dims: Sequence[int] | None = None,
    ) -> None:
        law = given(Distortion, distortion)
        RecordConstructorArgs.__init__(
            self, distortion=asdict(law), step_seconds=step_seconds, zero=zero, key=key, dims=dims
        )
        gym.Wrapper.__init__(self, env)
        if not 0 < step_seconds < math.inf or not math.isfinite(zero):
            raise ValueError(f"got step_seconds={step_seconds!r}, zero={zero!r}; a step lasts, and zero is a number")
        if law.sine > 0 and not law.scattered and (2 * step_seconds / law.period).is_integer():
            raise ValueError(
                f"a wave of period {law.period!r} s is zero at every step of {step_seconds!r} s; choose another of them"
            )
        self.distortion, self._step_seconds, self._zero = law, float(step_seconds), float(zero)
        self._readings = Readings(env.observation_space, key, dims)
        self.streams = Streams(self, key or "", ("phase", "impulse"))
        self.observation_space = self._readings.space(*self._bounds())
        self._phase: Floats = np.zeros(self._readings.index.shape)
        self._period: Floats = np.full(self._readings.index.shape, law.period)
        self._steps = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset; the wave begins anew."""
        observation, info = self.env.reset(seed=seed, options=options)
        self.streams.restart(self.env, seed)
        phases = self.streams["phase"].random((2, self._readings.all))[:, self._readings.index]
        if self.distortion.scattered:
            self._phase = phases[0]
            self._period = self.distortion.period * (1 + DETUNING * (2 * phases[1] - 1))
        self._steps = 0
        return self._distorted(observation), info

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Step, and distort what is seen."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._steps += 1
        return self._distorted(observation), reward, terminated, truncated, info

    def _distorted(self, observation: Any) -> Any:
        """Return a new observation under the law."""
        law, time = self.distortion, self._steps * self._step_seconds
        chance, side = self.streams["impulse"].random((2, self._readings.all))[:, self._readings.index]
        impulses = (chance < law.impulse_probability) * np.where(law.scattered & (side < 0.5), -1.0, 1.0)
        waves = np.sin(2 * np.pi * (time / self._period + self._phase))
        true = self._readings.get(observation)
        return self._readings.put(observation, true + (true - self._zero) * (law.sine * waves + law.impulse * impulses))

    def _bounds(self) -> tuple[Floats, Floats]:
        """Return the smallest and the largest reading that the law can give."""
        law = self.distortion
        if law.sine == law.impulse == 0.0:
            return self._readings.low, self._readings.high
        most = 1 + law.sine + law.impulse
        least = 1 - law.sine - (law.impulse if law.scattered else 0.0)
        ends = np.stack([self._readings.low, self._readings.high]) - self._zero
        with np.errstate(invalid="ignore"):
            corners = np.concatenate([ends * least, ends * most])
        corners[np.isnan(corners)] = 0.0  # an infinite bound times a gain of 0: such a reading is at the zero point
        return self._zero + corners.min(axis=0), self._zero + corners.max(axis=0)
