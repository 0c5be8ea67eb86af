"""Shadow: a second environment that does the same, and must come to the same."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import gymnasium

from rolf.difference import difference
from rolf.strategies.verdicts import Told, told_by_reset, told_by_step


class Call(NamedTuple):
    """One thing that an environment was asked."""

    name: str
    """``reset`` or ``step``."""
    argument: Any
    """Seed, or action."""

    def __str__(self) -> str:
        return f"{self.name}({'' if self.argument is None else repr(self.argument)})"


def ask(env: gymnasium.Env[Any, Any], call: Call) -> Told:
    """Ask an environment, and return what it told."""
    if call.name == "reset":
        return told_by_reset(env.reset(seed=call.argument))
    # Each its own: an environment that changes the action it is given must not change that of the others.
    return told_by_step(env.step(copy.deepcopy(call.argument)))


class Shadow:
    """Plays what another environment has played since its latest seed, in an environment that is fresh.

    It knows neither what was before that seed, nor that something was saved and restored: if the two agree, neither
    mattered.

    Args:
        make: Makes the environment.
    """

    def __init__(self, make: Callable[[], gymnasium.Env[Any, Any]]) -> None:
        self._make = make
        self._env: gymnasium.Env[Any, Any] | None = None
        self._played: list[Call] = []

    def play(self, calls: Sequence[Call]) -> Told:
        """Play these calls, or those of them that were not played yet, and return what the last one told."""
        # The same objects, not equal ones: a restored moment may go on with an equal action, and must not go on here.
        known = len(self._played)
        going_on = known < len(calls) and all(ours is theirs for ours, theirs in zip(self._played, calls, strict=False))
        if self._env is None or not going_on:
            self.close()
            self._env, known = self._make(), 0
        for call in calls[known:]:
            told = ask(self._env, call)
        self._played = list(calls)
        return told

    @property
    def env(self) -> gymnasium.Env[Any, Any]:
        """The environment, once something was played."""
        assert self._env is not None
        return self._env

    def close(self) -> None:
        """Close the environment, if there is one."""
        if self._env is not None:
            self._env.close()
            self._env = None


def parting(one: Told, other: Told, volatile: Sequence[str]) -> str | None:
    """Return where two answers differ, in words, or None."""
    for name in ("observation", "reward", "terminated", "truncated", "info"):
        found = difference(name, getattr(one, name), getattr(other, name), volatile)
        if found is not None:
            return f"{found.field} is {found.left} here and {found.right} there"
    return None
