"""How an environment is set up: what ``gymnasium.make`` may say beside the task, checked before anything starts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any, TypeVar

from termgym.reward.terms import RewardWeights
from termgym.sandbox.opening import BACKENDS
from termgym.snapshot import BACKENDS as SNAPSHOTS
from termgym.tasks.task import Limits

_Values = TypeVar("_Values", RewardWeights, Limits)

REWARDS = ("terms", "success", "shaped")
HEALTH_SOURCES = ("heat", "score")
GOAL_MOMENTS = ("step", "submit")
BY_TASK = "task"
CLOCKS = ("real", "frozen")
RENDER_MODES = ("ansi", "human", "rgb_array")
SMALLEST_OUTPUT_LIMIT = 1 << 10
LARGEST_OUTPUT_LIMIT = 16 << 20


@dataclass(frozen=True, slots=True)
class Options:
    """What an environment keeps for its whole life."""

    backend: str = "local"
    """Where the shell runs; ``termgym.sandbox`` knows the names."""
    snapshot: str | None = None
    """How files are put back; None: the first that works here."""
    reward: str = "terms"
    """``terms`` (eleven terms), ``success`` (0 or 1) or ``shaped`` (potential-based)."""
    weights: RewardWeights | None = None
    """Weights of the eleven terms; None: the defaults."""
    health: str = "heat"
    """What the health term looks at: ``heat``, or ``score``: the Terminal Health Score (load, GPU, disk) too."""
    check_goal: str = "step"
    """``step``: the episode ends when the goal holds; ``submit``: the goal is looked at when the episode ends."""
    max_steps: int | None = None
    """Steps until truncation; None: the task's own."""
    trajectory_timeout: float | str | None = None
    """Wall time until truncation [s]; ``task``: what the task's folder allows its agents; None: no limit."""
    output_limit: int = 32_768
    """Bytes kept of each output stream."""
    network: bool = False
    """Whether the sandbox shares the host's network."""
    build_network: bool = False
    """Whether an image may be built with the host's network (``apt-get install``, ``pip install``)."""
    clock: str = "real"
    """``real``, or ``frozen`` at SOURCE_DATE_EPOCH."""
    limits: Limits | None = None
    """What an episode may use; None: the task's own."""
    snapshot_dir: str | None = None
    """Where the rsync snapshot writes its logs; None: nowhere."""
    render_mode: str | None = None

    def __post_init__(self) -> None:
        _choice("reward", self.reward, REWARDS)
        _choice("health", self.health, HEALTH_SOURCES)
        _choice("check_goal", self.check_goal, GOAL_MOMENTS)
        _choice("clock", self.clock, CLOCKS)
        _choice("render_mode", self.render_mode, (None, *RENDER_MODES))
        _choice("backend", self.backend, BACKENDS)
        _choice("snapshot", self.snapshot, (None, *SNAPSHOTS))
        _kind("network", self.network, bool, "True or False")
        _kind("build_network", self.build_network, bool, "True or False")
        if self.max_steps is not None:
            _whole("max_steps", self.max_steps, 1, 2**31 - 1)
        _whole("output_limit", self.output_limit, SMALLEST_OUTPUT_LIMIT, LARGEST_OUTPUT_LIMIT)
        if self.trajectory_timeout not in (None, BY_TASK):
            _positive("trajectory_timeout", self.trajectory_timeout)

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Options:
        """Return the options that keyword arguments name.

        Raises:
            TypeError: a name is unknown; the message suggests the nearest.
            ValueError: a value is not allowed; the message says what is.
        """
        known = [field.name for field in fields(cls)]
        for name in given:
            if name not in known:
                near = get_close_matches(name, known, n=1)
                hint = f"did you mean {near[0]!r}? " if near else ""
                raise TypeError(f"TermEnv has no argument {name!r}; {hint}It takes task, {', '.join(known)}")
        told = dict(given)
        for name, kind in (("weights", RewardWeights), ("limits", Limits)):
            told[name] = _values(name, told.get(name), kind)
        return cls(**told)


def _values(name: str, got: object, kind: type[_Values]) -> _Values | None:
    """Return a value object, made from a mapping of some of its fields if it comes as one."""
    if got is None or isinstance(got, kind):
        return got
    known = [field.name for field in fields(kind)]
    if not isinstance(got, Mapping):
        raise TypeError(f"{name}={got!r} is of type {type(got).__name__}; give a {kind.__name__} or a mapping")
    unknown = [key for key in got if key not in known]
    if unknown:
        raise ValueError(f"{name} has no field {unknown[0]!r}; allowed are {', '.join(known)}")
    return kind(**got)


def _choice(name: str, got: object, allowed: tuple[object, ...]) -> None:
    if got not in allowed:
        raise ValueError(f"{name}={got!r} is not known; allowed are {', '.join(map(repr, allowed))}")


def _kind(name: str, got: object, kind: type, wanted: str) -> None:
    if not isinstance(got, kind):
        raise TypeError(f"{name}={got!r} is of type {type(got).__name__}; give {wanted}")


def _whole(name: str, got: object, low: int, high: int) -> None:
    if not isinstance(got, int) or isinstance(got, bool):
        raise TypeError(f"{name}={got!r} is of type {type(got).__name__}; give a whole number from {low} to {high}")
    if not low <= got <= high:
        raise ValueError(f"{name}={got!r} is out of range; give a whole number from {low} to {high}")


def _positive(name: str, got: object) -> None:
    allowed = f"seconds above 0, {BY_TASK!r} for the task's own, or None for no limit"
    if not isinstance(got, (int, float)) or isinstance(got, bool):
        raise TypeError(f"{name}={got!r} is of type {type(got).__name__}; give {allowed}")
    if not (got > 0 and math.isfinite(got)):
        raise ValueError(f"{name}={got!r} is out of range; give finite {allowed}")
