"""Pool: environments that are kept open, because what is behind one takes longer to build than an episode to play."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
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
        threads: How many of them are waited for at once.
    """

    def __init__(self, places: int, threads: int = 1) -> None:
        self._open: list[tuple[Variant, gymnasium.Env[Any, Any]] | None] = [None] * places
        self._threads = ThreadPoolExecutor(threads) if threads > 1 else None

    def __len__(self) -> int:
        return len(self._open)

    def env(self, place: int) -> gymnasium.Env[Any, Any]:
        """Return the environment at a place, in which an episode was begun."""
        found = self._open[place]
        assert found is not None
        return found[1]

    def resets(self, problems: Mapping[int, Problem]) -> dict[int, Seen | Lost]:
        """Begin episodes, by place."""
        return self._each(self.reset, problems)

    def steps(self, actions: Mapping[int, Any]) -> dict[int, Seen | Lost]:
        """Take a step at each place."""
        return self._each(self.step, actions)

    def _each(self, act: Callable[[int, Any], Seen | Lost], given: Mapping[int, Any]) -> dict[int, Seen | Lost]:
        walk = map if self._threads is None else self._threads.map
        return dict(zip(given, walk(act, given.keys(), given.values()), strict=True))

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
        """Close all; calling it twice is allowed."""
        for place in range(len(self._open)):
            self._close(place)
        if self._threads is not None:
            self._threads.shutdown()

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
