"""MetricsInfo: put the measured, volatile figures of a step into ``info``."""

from __future__ import annotations

from typing import Any, SupportsFloat

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs


class MetricsInfo(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Copy ``env.unwrapped.metrics`` into ``info["metrics"]`` after every reset and step.

    Measured figures differ from run to run, so environments keep them out of ``info``; this wrapper is for those who
    want them there, and declares them volatile, so that a replay does not compare them. What could not be measured
    (None) is left out: Gymnasium's vector environments cannot hold a number in one row and nothing in the next.

    Example:
        >>> import gymnasium as gym
        >>> class Metered(gym.Env):
        ...     observation_space = action_space = gym.spaces.Discrete(2)
        ...     metrics = {"cpu_s": 0.25}
        ...     def reset(self, *, seed=None, options=None):
        ...         return 0, {}
        >>> MetricsInfo(Metered()).reset()
        (0, {'metrics': {'cpu_s': 0.25}})

    Raises:
        TypeError: the environment measures nothing.

    Change log:
        * v0.1.0 - Added
    """

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        RecordConstructorArgs.__init__(self)
        gym.Wrapper.__init__(self, env)
        if not hasattr(env.unwrapped, "metrics"):
            raise TypeError(f"{env} has no metrics to copy; MetricsInfo wants an environment with `unwrapped.metrics`")
        self.metadata = {**env.metadata, "volatile": (*env.metadata.get("volatile", ()), "info.metrics")}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset, with what the reset cost."""
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, {**info, "metrics": self._metrics()}

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Step, with what the step cost."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, reward, terminated, truncated, {**info, "metrics": self._metrics()}

    def _metrics(self) -> dict[str, Any]:
        world: Any = self.env.unwrapped
        return {name: value for name, value in world.metrics.items() if value is not None}
