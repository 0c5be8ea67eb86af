"""KeepTrajectories: a wrapper that puts every episode that is played to its end into a buffer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, SupportsFloat

import gymnasium as gym
import numpy as np

from rolf_adapters.buffer.buffer import TrajectoryBuffer
from rolf_adapters.buffer.edges import Causes
from rolf_adapters.buffer.episode import Column, Episode
from rolf_adapters.buffer.listening import listener


class KeepTrajectories(gym.Wrapper[Any, Any, Any, Any]):
    """Put every episode into a buffer, with what came of what.

    An episode that the machine failed (``info["masked"]``) is left out, and so is one that is not played to its end.
    Nothing of the environment is changed, and nothing is drawn at random.

    Args:
        env: The environment, with observations and actions that are numbers, arrays, texts, or dictionaries of these.
            To have edges, put this wrapper next to it: it understands the environment's own actions.
        buffer: Where they are kept; who passes it commits and closes it.
        env_id: What the environment is called there.
        timestamp: The first episode's; each has one more than the last. Go on from ``timestamp`` when resuming.
        causes: Listens for edges; None: whoever understands the environment (`rolf_adapters.buffer.listening`).
        keep: Names of what of ``info`` is kept beside each step, as it was before the step: ``("phase",)``.
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        buffer: TrajectoryBuffer,
        *,
        env_id: str,
        timestamp: int = 0,
        causes: Causes | None = None,
        keep: Sequence[str] = (),
    ) -> None:
        super().__init__(env)
        self.timestamp = timestamp
        """Of the episode that is played, or comes next."""
        self._buffer, self._env_id, self._keep = buffer, env_id, tuple(keep)
        self._causes: Causes | None = causes
        self._open = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; one that was not over is forgotten."""
        observation, info = self.env.reset(seed=seed, options=options)
        if self._causes is None:
            self._causes = listener(self.env)
        self._causes.begin(observation, info)
        self._states, self._actions = [_parts("observation", observation)], list[dict[str, Any]]()
        self._rewards, self._extras = list[float](), list[dict[str, Any]]()
        self._kept, self._open = self._of(info), True
        return observation, info

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Take a step, and keep the episode if it is over."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        if self._open and self._causes is not None:
            self._causes.step(action, observation, info)
            self._actions.append(_parts("action", action))
            self._states.append(_parts("observation", observation))
            self._rewards.append(float(reward))
            self._extras.append(self._kept)
            self._kept = self._of(info)
            if terminated or truncated:
                self._open = False
                if not info.get("masked", False):
                    self._put(bool(terminated), self._causes)
        return observation, reward, terminated, truncated, info

    def _put(self, terminated: bool, causes: Causes) -> None:
        self._buffer.add(
            Episode(
                self._env_id,
                self.timestamp,
                _columns(self._states),
                _columns(self._actions),
                np.array(self._rewards),
                terminated,
                causes.graph(),
                _columns(self._extras),
            )
        )
        self.timestamp += 1

    def _of(self, info: Mapping[str, Any]) -> dict[str, Any]:
        missing = [name for name in self._keep if name not in info]
        if missing:
            raise KeyError(f"info has no {missing[0]!r}, which is to be kept; it has {', '.join(sorted(info))}")
        return {name: _value(name, info[name]) for name in self._keep}


def _parts(name: str, value: Any) -> dict[str, Any]:
    """Return the parts of an observation or action: those of a dictionary, or itself under a name."""
    parts = value if isinstance(value, Mapping) else {name: value}
    return {part: _value(part, each) for part, each in parts.items()}


def _value(name: str, value: Any) -> str | bytes | np.ndarray[Any, Any]:
    if isinstance(value, (str, bytes)):
        return value
    array = np.array(value)  # a copy: environments may write over what they returned
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name!r} is {value!r:.60}; a buffer keeps numbers, arrays, texts and dictionaries of these")
    return array


def _columns(rows: list[dict[str, Any]]) -> dict[str, Column]:
    """Return parts that were kept row by row, column by column."""
    return {name: _column([row[name] for row in rows]) for name in rows[0]}


def _column(rows: list[Any]) -> Column:
    if isinstance(rows[0], np.ndarray) and len({row.shape for row in rows}) == 1:
        return np.stack(rows)
    return rows
