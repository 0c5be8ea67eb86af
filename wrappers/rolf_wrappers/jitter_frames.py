"""JitterFrames: a loaded controller, whose cycle takes now more, now less of the world's time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self, SupportsFloat, SupportsIndex

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

from rolf_wrappers.parameters import given, rung, within
from rolf_wrappers.streams import Streams

SHORTEST, LONGEST = 0.25, 4.0
"""Limits of a cycle's length, in nominal cycles."""


@dataclass(frozen=True, slots=True)
class Jitter:
    """The law ``dT[n] = first * dT[n-1] + second * dT[n-2] + e`` with Gaussian ``e``.

    A cycle of the controller lasts ``1 + dT`` nominal ones.
    """

    deviation: float = 0.05
    """Standard deviation of ``e`` [nominal cycles]; that of ``dT`` is 2.1 times as large with these coefficients."""
    first: float = 0.7
    """Share of the offset that stays for the next cycle."""
    second: float = 0.2
    """Share of it that stays for the one after that."""

    def __post_init__(self) -> None:
        within(self, 0.0, 1e6, "deviation")
        within(self, -2.0, 2.0, "first")
        within(self, -1.0, 1.0, "second")
        if not (abs(self.second) < 1 and self.second + abs(self.first) < 1):
            raise ValueError(
                f"first={self.first!r}, second={self.second!r} let the offset grow without end; "
                "keep |second| < 1 and second + |first| < 1"
            )

    @classmethod
    def at(cls, intensity: SupportsIndex) -> Self:
        """Return the jitter at an intensity from 0 (off) to 7; 1 is the law as defined above, 2 has twice its ``e``."""
        return cls(0.05 * rung(intensity, range(8)))


class JitterFrames(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Let a decision last a varying number of frames, as under varying load; see ``Jitter`` for the law.

    A decision is repeated for about ``frames`` steps of the environment times the length of the controller's cycle
    (0.25 to 4 nominal ones; fractions are carried over), but at least one, and not beyond the end of the episode.
    Rewards are summed; ``info["frames"]`` tells how many steps it was. Limits on the length of an episode that lie
    inside count frames.

    There is no vector version; ``make_vec(..., vectorization_mode="sync", wrappers=[...])`` wraps each environment.

    Example:
        >>> import gymnasium as gym
        >>> env = JitterFrames(gym.make("Pendulum-v1"), Jitter.at(3), frames=10)
        >>> _ = env.reset(seed=7)
        >>> [env.step([0.0])[4]["frames"] for _ in range(12)]
        [10, 10, 11, 12, 13, 11, 10, 5, 8, 7, 8, 3]

    Args:
        env: The environment.
        jitter: The law's parameters.
        frames: Steps of the environment in a nominal cycle.

    Change log:
        * v0.2.0 - Added
    """

    def __init__(self, env: gym.Env[Any, Any], jitter: Jitter | Mapping[str, Any], *, frames: int = 4) -> None:
        self.jitter = given(Jitter, jitter)
        RecordConstructorArgs.__init__(self, jitter=asdict(self.jitter), frames=frames)
        gym.Wrapper.__init__(self, env)
        if not isinstance(frames, int) or not 1 <= frames <= 10_000:
            raise ValueError(f"frames is {frames!r}; give a whole number from 1 to 10000")
        self._frames = frames
        self.streams = Streams(self, "", ("load",))
        self._offsets = 0.0, 0.0
        self._rest = 0.0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset; the first cycle follows two nominal ones."""
        observation, info = self.env.reset(seed=seed, options=options)
        self.streams.restart(self.env, seed)
        self._offsets = 0.0, 0.0
        self._rest = 0.0
        return observation, info

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Repeat the action for one cycle of the controller."""
        wanted, frames, total = self._cycle(), 0, 0.0
        terminated = truncated = False
        while frames < wanted and not (terminated or truncated):
            observation, reward, terminated, truncated, info = self.env.step(action)
            frames, total = frames + 1, total + float(reward)
        return observation, total, terminated, truncated, {**info, "frames": frames}

    def _cycle(self) -> int:
        """Return how many frames the next cycle lasts."""
        law, (last, before) = self.jitter, self._offsets
        offset = law.first * last + law.second * before + law.deviation * self.streams["load"].standard_normal()
        self._offsets = offset, last
        time = self._rest + self._frames * min(max(1 + offset, SHORTEST), LONGEST)
        frames = max(1, int(time))
        self._rest = max(0.0, time - frames)
        return frames
