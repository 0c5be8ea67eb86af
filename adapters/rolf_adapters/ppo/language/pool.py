"""Pool: environments that are kept open, because what is behind one takes longer to build than an episode to play."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import gymnasium

from rolf.variant import Variant
from rolf_adapters.ppo.language.problems import Problem

FAULTS = (OSError, RuntimeError, EOFError)
"""What is raised where a machine, a process or a connection fails; all else is a mistake in a program."""
_LOG = logging.getLogger(__name__)


class Seen(NamedTuple):
    """What an environment gave."""

    observation: Any
    info: Mapping[str, Any]
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False


class Lost(NamedTuple):
    """An episode that nothing can be said of, because its machine failed."""

    reason: str


class Pool:
    """So many places, each with one environment, made when it is needed and made anew when it has failed.

    Args:
        places: How many.
    """

    def __init__(self, places: int) -> None:
        self._open: list[tuple[Variant, gymnasium.Env[Any, Any]] | None] = [None] * places

    def __len__(self) -> int:
        return len(self._open)

    def env(self, place: int) -> gymnasium.Env[Any, Any]:
        """Return the environment at a place, in which an episode was begun."""
        found = self._open[place]
        assert found is not None
        return found[1]

    def reset(self, place: int, problem: Problem) -> Seen | Lost:
        """Begin an episode; an environment that cannot is replaced, and the new one is asked once."""
        lost = Lost("")
        for _ in range(2):
            try:
                observation, info = self._ready(place, problem.variant).reset(seed=problem.seed)
            except FAULTS as error:
                lost = self._replace(place, error)
            else:
                return Seen(observation, info)
        return lost

    def step(self, place: int, action: Any) -> Seen | Lost:
        """Take a step; a machine that fails in it loses the episode."""
        try:
            observation, reward, terminated, truncated, info = self.env(place).step(action)
        except FAULTS as error:
            return self._replace(place, error)
        if info.get("masked") or info.get("failure_kind") is not None:
            # The environment itself has noticed, and has a new machine at its next reset.
            return Lost(str(info.get("failure_kind")))
        return Seen(observation, info, float(reward), bool(terminated), bool(truncated))

    def close(self) -> None:
        """Close all; they are made again when they are needed."""
        for place in range(len(self._open)):
            self._close(place)

    def _ready(self, place: int, variant: Variant) -> gymnasium.Env[Any, Any]:
        found = self._open[place]
        if found is None or found[0] != variant:
            self._close(place)
            found = (variant, variant.make(disable_env_checker=True))
            self._open[place] = found
        return found[1]

    def _replace(self, place: int, error: Exception) -> Lost:
        _LOG.warning("an environment failed and is replaced: %s: %s", type(error).__name__, error)
        self._close(place)
        return Lost(f"{type(error).__name__}: {error}")

    def _close(self, place: int) -> None:
        found, self._open[place] = self._open[place], None
        if found is not None:
            with suppress(*FAULTS):  # what has failed may fail again in closing
                found[1].close()
