"""Presentation: how an environment's observations and actions become such as Stable-Baselines3 takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym
from gymnasium import spaces

from rolf.interface import Tooled
from rolf_adapters.sb3.info_mask import InfoMask
from rolf_wrappers import EncodedObservation, FlatFloat, MenuAction, ParamAction
from rolf_wrappers.menu_action import Menu

PLACES = 256
"""Numbers that a text becomes, where nothing else is said."""
NUMBERS = (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)
CHOICES = (spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)


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
    | a vector of numbers, or a picture | themselves |
    | a ``Dict`` with texts | counts of hashed words (`rolf_wrappers.EncodedObservation`), then one vector |
    | a ``Dict`` of numbers, several in one | one vector of float32 (`rolf_wrappers.FlatFloat`), without the mask |

    Whatever else there is, is refused; the message says what to do. What is possible is told to MaskablePPO
    (`InfoMask`).
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
    """How many numbers each text becomes, by the name of its entry; None: 256 each."""
    kind: str = "hashed"
    """How texts become numbers: ``hashed`` or ``bytes``."""
    drop: Sequence[str] = field(default=())
    """Entries of the observation that are left out."""

    def __post_init__(self) -> None:
        if self.menu is not None and (self.values is not None or self.tools is not None):
            raise ValueError("a menu is given, and values or tools beside it; give one or the other")


def present(env: gym.Env[Any, Any], presentation: Presentation | None = None) -> gym.Env[Any, Any]:
    """Return an environment in the form that Stable-Baselines3 takes.

    Args:
        env: The environment.
        presentation: What the rules leave open.

    Raises:
        TypeError: observations or actions are such that no rule fits.
        ValueError: what was said does not fit the environment.
    """
    said = presentation or Presentation()
    shown = _observed(_acted(env, said), said)
    return InfoMask(shown) if isinstance(shown.action_space, CHOICES) else shown


def taken_as_it_is(observations: gym.Space[Any], actions: gym.Space[Any]) -> bool:
    """Return whether Stable-Baselines3 takes these spaces without a wrapper."""
    return isinstance(observations, NUMBERS) and isinstance(actions, NUMBERS)


def _acted(env: gym.Env[Any, Any], said: Presentation) -> gym.Env[Any, Any]:
    """Return the environment with actions of numbers."""
    if said.menu is not None:
        return MenuAction(env, said.menu, places=said.places)
    if said.values is not None or said.tools is not None:
        return ParamAction(env, said.values, tools=said.tools)
    if isinstance(env.action_space, NUMBERS):
        return env
    advice = "give Presentation(menu={NAME: ACTION, …})"
    if not isinstance(env.unwrapped, Tooled):
        raise TypeError(f"actions are {env.action_space}, which Stable-Baselines3 does not take; {advice}")
    try:
        return ParamAction(env)
    except ValueError as error:
        raise TypeError(
            f"actions are {env.action_space}, which Stable-Baselines3 does not take, and its tools cannot all be "
            f"numbered ({error}); {advice}, or Presentation(values={{PARAMETER: […]}}, tools=[…])"
        ) from error


def _observed(env: gym.Env[Any, Any], said: Presentation) -> gym.Env[Any, Any]:
    """Return the environment with observations of numbers."""
    space = env.observation_space
    if isinstance(space, NUMBERS):
        if said.texts is not None or said.drop:
            raise ValueError(f"observations are {space} and have no entries; leave out texts and drop")
        return env
    if not isinstance(space, spaces.Dict):
        raise TypeError(
            f"observations are {space}, which Stable-Baselines3 does not take; make a Dict of numbers and texts of "
            "them with a wrapper of your own"
        )
    texts = said.texts
    if texts is None:
        found = [name for name, each in space.items() if isinstance(each, spaces.Text) and name not in said.drop]
        texts = dict.fromkeys(found, PLACES)
    if texts or said.drop:
        env = EncodedObservation(env, texts, kind=said.kind, drop=said.drop)
    return FlatFloat(env)
