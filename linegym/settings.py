"""How an environment is set up: what ``gymnasium.make`` may say beside the variant, checked before anything starts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from operator import index
from typing import Any

from linegym.errors import did_you_mean
from linegym.plant import HORIZON, LONGEST_HORIZON
from linegym.spaces import ACTION_KINDS, OBSERVATIONS, chosen

RENDER_MODES = ("ansi", "rgb_array")
SHORTEST_HORIZON = 1


@dataclass(frozen=True, slots=True)
class Settings:
    """What an environment keeps for its whole life."""

    horizon: int = HORIZON
    """Length of the shift [ticks]."""
    ticks_per_step: int = 1
    """Ticks that a step takes; the command falls into the first."""
    action: str = "flat"
    """``flat``: Discrete(545); ``multi``: MultiDiscrete([7, 24, 16])."""
    observation: str = "flat"
    """``flat``: 632 numbers; ``dict``: the mask of possible actions beside them."""
    evaluation: bool = False
    """Whether episodes come from the namespace that no training episode can come from."""
    masks: bool = True
    """Whether ``info["action_mask"]`` is told; without it steps of thousands of lines are quicker."""
    render_mode: str | None = None

    def __post_init__(self) -> None:
        whole("horizon", self.horizon, SHORTEST_HORIZON, LONGEST_HORIZON)
        whole("ticks_per_step", self.ticks_per_step, 1, self.horizon)
        chosen("action", self.action, ACTION_KINDS)
        chosen("observation", self.observation, OBSERVATIONS)
        yes_or_no("evaluation", self.evaluation)
        yes_or_no("masks", self.masks)
        if self.render_mode is not None:
            chosen("render_mode", self.render_mode, RENDER_MODES)
        if self.observation == "dict" and not self.masks:
            raise ValueError("observation='dict' holds the mask, so it needs masks=True; or give observation='flat'")


def whole(name: str, got: Any, least: int, most: int) -> int:
    """Return a whole number in a range.

    Raises:
        TypeError: it is no whole number.
        ValueError: it is out of range.
    """
    try:
        number = index(got)
    except TypeError:
        wanted = f"give a whole number from {least} to {most}"
        raise TypeError(f"{name}={got!r} of type {type(got).__name__} is no whole number; {wanted}") from None
    if isinstance(got, bool):
        raise TypeError(f"{name}={got!r} is no number; give a whole number from {least} to {most}")
    if not least <= number <= most:
        raise ValueError(f"{name}={got!r} is out of range; give a whole number from {least} to {most}")
    return number


def yes_or_no(name: str, got: Any) -> None:
    """Refuse what is neither True nor False."""
    if not isinstance(got, bool):
        raise TypeError(f"{name}={got!r} is of type {type(got).__name__}; give True or False")


def refuse_unknown(who: str, given: Iterable[str], known: Iterable[str], what: str = "argument") -> None:
    """Refuse names that are not known; the message suggests the nearest.

    Raises:
        TypeError: there is one.
    """
    allowed = list(known)
    for name in given:
        if name not in allowed:
            hint = did_you_mean(str(name), allowed)
            raise TypeError(f"{who} has no {what} {name!r}{hint}; it takes {', '.join(allowed)}")
