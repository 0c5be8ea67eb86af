"""Presentation: how observations and actions become numbers, for libraries whose networks take nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from rolf.interface import Tooled
from rolf_wrappers import EncodedObservation, FlatFloat, MenuAction, ParamAction
from rolf_wrappers.menu_action import Menu

NUMBERS = (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)


@dataclass(frozen=True)
class Presentation:
    """What the rules leave open.

    | actions | become |
    |---|---|
    | with ``menu`` | the number of an entry (`rolf_wrappers.MenuAction`) |
    | with ``values`` or ``tools`` | a tool and its arguments as numbers (`rolf_wrappers.ParamAction`) |
    | numbers | themselves |
    | else, of an environment with tools | a tool and its arguments, where all of these can be numbered |

    | observations | become |
    |---|---|
    | a vector of numbers, or a picture | themselves; for RLlib one vector of float32 (`rolf_wrappers.FlatFloat`) |
    | a ``Dict`` with texts | counts of hashed words (`rolf_wrappers.EncodedObservation`), then one vector |
    | a ``Dict`` of numbers, several in one | one vector of float32, without the mask |

    Whatever else there is, is refused; the message says what to do.

    Raises:
        ValueError: two settings exclude each other, or one is of no use without another.
    """

    menu: Menu | None = None
    """Entries by name, or a function of observation and info."""
    places: int | None = None
    """Entries that the menu has room for."""
    values: Mapping[str, Sequence[Any]] | None = None
    """What parameters of tools can be."""
    tools: Sequence[str] | None = None
    """Tools that can be called."""
    texts: Mapping[str, int] | None = None
    """How many numbers each text becomes, by the name of its entry; None: as many as the library's adapter says."""
    kind: str | None = None
    """How texts become numbers: ``hashed`` or ``bytes``; None: hashed."""
    drop: Sequence[str] = ()
    """Entries of the observation that are left out."""

    def __post_init__(self) -> None:
        if self.menu is not None and (self.values is not None or self.tools is not None):
            raise ValueError("a menu is given, and values or tools beside it; give one or the other")
        if self.menu is None and self.places is not None:
            raise ValueError(
                f"places={self.places!r} is the room of a menu, and there is none; give menu={{NAME: ACTION, …}} with "
                "it, or leave it out"
            )


@dataclass(frozen=True)
class Library:
    """What a library's algorithms take."""

    name: str
    """As people call it."""
    actions: tuple[type[gym.Space[Any]], ...]
    """Kinds of actions."""
    flat: bool
    """Whether numbers that are observed become one vector of float32, whatever they are."""
    places: int
    """Numbers that a text becomes, where nothing else is said."""


def presented(env: gym.Env[Any, Any], said: Presentation, library: Library) -> gym.Env[Any, Any]:
    """Return an environment in the form that a library takes.

    Raises:
        TypeError: observations or actions are such that no rule fits.
        ValueError: what was said does not fit the environment.
    """
    return _observed(_acted(env, said, library), said, library)


def _acted(env: gym.Env[Any, Any], said: Presentation, library: Library) -> gym.Env[Any, Any]:
    """Return the environment with actions of numbers."""
    if said.menu is not None:
        return MenuAction(env, said.menu, places=said.places)
    if said.values is not None or said.tools is not None:
        return ParamAction(env, said.values, tools=said.tools)
    if isinstance(env.action_space, library.actions):
        count_from_zero(env.action_space, library.name)
        return env
    what = f"actions are {env.action_space}, which {library.name} does not take"
    advice = "give Presentation(menu={NAME: ACTION, …})"
    if not isinstance(env.unwrapped, Tooled):
        raise TypeError(f"{what}; {advice}")
    try:
        return ParamAction(env)
    except ValueError as error:
        raise TypeError(
            f"{what}, and its tools cannot all be numbered ({error}); {advice}, or "
            "Presentation(values={PARAMETER: […]}, tools=[…])"
        ) from error


def count_from_zero(actions: gym.Space[Any], library: str) -> None:
    """Refuse numbered actions that begin elsewhere: libraries sample from 0, and every action would be another.

    Raises:
        TypeError: they do.
    """
    start = getattr(actions, "start", 0)
    if np.any(start):
        raise TypeError(
            f"actions are {actions}, which begin at {start}, and {library} counts from 0; "
            "gymnasium.wrappers.TransformAction(env, lambda action: action + START, SPACE) moves them"
        )


def _observed(env: gym.Env[Any, Any], said: Presentation, library: Library) -> gym.Env[Any, Any]:
    """Return the environment with observations of numbers."""
    space = env.observation_space
    if isinstance(space, NUMBERS):
        if said.texts is not None or said.drop:
            raise ValueError(f"observations are one {type(space).__name__}, without entries; leave out texts and drop")
        _check_kind(said, {})
        return FlatFloat(env) if library.flat else env
    if not isinstance(space, spaces.Dict):
        raise TypeError(
            f"observations are {space}, which {library.name} does not take; make a Dict of numbers and texts of them "
            "with a wrapper of your own"
        )
    texts = said.texts
    if texts is None:
        found = [name for name, each in space.items() if isinstance(each, spaces.Text) and name not in said.drop]
        texts = dict.fromkeys(found, library.places)
    _check_kind(said, texts)
    if texts or said.drop:
        env = EncodedObservation(env, texts, kind=said.kind or "hashed", drop=said.drop)
    return FlatFloat(env)


def _check_kind(said: Presentation, texts: Mapping[str, int]) -> None:
    """Raise ValueError where it is said how texts become numbers, and none does."""
    if said.kind is not None and not texts:
        raise ValueError(
            f"kind={said.kind!r} is how texts become numbers, and none does here; leave it out, or give "
            "texts={NAME: SIZE, …} of an environment that shows some"
        )
