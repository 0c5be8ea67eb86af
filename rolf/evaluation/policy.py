"""Policy: who acts. What ``rolf eval --policy module:object`` names, and what it is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import gymnasium

from rolf.variant import Variant


@dataclass(frozen=True, slots=True)
class Start:
    """An episode that is about to be played."""

    variant: Variant
    """What is played; for records, as a contestant must not act by it."""
    attempt: int
    """Which attempt at it, from 0."""
    seed: int
    """For the policy's own random numbers: the same in every run of this attempt, and not what the world draws from."""
    observation: Any
    """What ``reset`` returned."""
    info: Mapping[str, Any]
    """What ``reset`` returned, less what only privileged policies are shown."""
    env: gymnasium.Env[Any, Any]
    """A contestant reads its spaces and nothing else; only policies that are ``privileged`` look further into it."""


class Policy(Protocol):
    """Decides in one environment, step by step.

    What it does must be a function of the episode's start, its observations and the seed: nothing may be carried from
    one episode to another, for episodes are shared out among processes in any order.

    It may declare, as attributes: ``name`` (str), ``privileged`` (bool: it is told the truth; a reference and no
    contestant), ``deterministic`` (bool: an attempt at the same world goes the same way, so that one attempt tells
    all), ``description`` (str).
    """

    def begin(self, start: Start) -> None:
        """Get ready for an episode; what was before is over."""

    def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        """Return the next action, of the environment's action space."""


@dataclass(frozen=True, slots=True)
class PolicyEntry:
    """A policy that comes with an environment."""

    name: str
    """``rolf eval --policy NAME``."""
    spec: str
    """``module:object`` that makes it: a class, a function without arguments, or the policy itself."""
    summary: str
    privileged: bool = False
    """Whether it is told the truth: a reference and no contestant."""
    deterministic: bool = False
    """Whether an attempt at the same world goes the same way again."""
