"""MenuAction: a choice from a menu for an action."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, SupportsFloat, SupportsIndex

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import NDArray

from rolf.interface import CallError, Tooled
from rolf.interface.call import checked, shown

Entry = Any
"""An action of the environment, or a call of one of its tools: ``{"tool": …, "arguments": {…}}``."""
Menu = Mapping[str, Entry] | Callable[[Any, Mapping[str, Any]], Mapping[str, Entry]]
MASK = "action_mask"


class MenuAction(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Take the number of a menu's entry for an action, so that the space is ``Discrete``.

    An entry is an action of the environment, or a call of one of its tools, and has a name. The menu is the same in
    every step, or a function makes it anew from each observation and ``info``; then ``places`` says how many entries it
    may have, so that the space stays what it is. The places that remain are empty.

    ``info["action_mask"]`` (int8) and ``action_masks()`` (bool, as MaskablePPO wants it) tell which choices are
    possible: not those of empty places, nor those whose action the environment's own ``info["action_mask"]`` rules out.
    ``info["menu"]`` has the names, ``""`` for an empty place. To choose what is not possible is a step too, and
    ``info["menu_refused"]`` tells it: an empty place takes the action ``refused``, or else the one that a
    ``rolf.interface.Tooled`` environment has for what is no call; an action that the environment rules out is taken
    all the same, and the environment does with it what it does with such.

    There is no vector version; ``make_vec(..., vectorization_mode="sync", wrappers=[...])`` wraps each environment.

    Example:
        >>> import gymnasium as gym
        >>> menu = {"nothing": {"tool": "wait"}, "order": {"tool": "order", "arguments": {"part": "jam"}}}
        >>> env = MenuAction(gym.make("linegym:LineEnv-v1"), menu, places=3)
        >>> env.action_space
        Discrete(3)
        >>> _, info = env.reset(seed=7)
        >>> info["menu"], info["action_mask"]
        (('nothing', 'order', ''), array([1, 1, 0], dtype=int8))
        >>> env.step(2)[4]["menu_refused"]
        True

    Args:
        env: The environment.
        menu: Entries by name, or a function of observation and ``info`` that returns them. A function cannot be written
            into a recording.
        places: How many entries the space has room for; None: as many as the menu has.
        refused: The action, or call, that the choice of an empty place takes; needed where there can be such places
            and the environment has no tools.

    Raises:
        TypeError: an entry is no action of the environment, nor a call; ``places`` is needed, or ``refused``.
        ValueError: the menu is empty or has more entries than places, or a call is not allowed.

    Change log:
        * v0.2.0 - Added
    """

    def __init__(
        self, env: gym.Env[Any, Any], menu: Menu, *, places: SupportsIndex | None = None, refused: Any = None
    ) -> None:
        kept: Any = menu if callable(menu) else dict(menu)
        count = None if places is None else places.__index__()
        RecordConstructorArgs.__init__(self, menu=kept, places=count, refused=refused)
        gym.Wrapper.__init__(self, env)
        self._world = env.unwrapped if isinstance(env.unwrapped, Tooled) else None
        self._menu = kept
        if count is None:
            if callable(kept):
                raise TypeError("a menu that a function makes needs places=, the most entries that it can have")
            count = len(kept)
        if count < 1:
            raise ValueError(f"a menu of {count} places leaves nothing to choose; give at least one")
        self._places = count
        self._refused = None if refused is None else self._native("refused", refused)
        if self._world is None and refused is None and (callable(kept) or count > len(kept)):
            raise TypeError("the menu can have empty places, and the environment has no tools; give refused=ACTION")
        self._fixed = None if callable(kept) else self._entries(kept)
        self._shown: _Shown | None = None
        # What is worth trying there (rolf.checks) would be no number here.
        self.metadata = {key: value for key, value in env.metadata.items() if key != "actions"}
        self.action_space = spaces.Discrete(count)

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which choices are possible now.

        Raises:
            gymnasium.error.ResetNeeded: no episode has begun.
        """
        return self._now.mask.astype(np.bool_)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset, and show the menu."""
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, self._told(observation, info, refused=False)

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Take the action that is chosen.

        Raises:
            ValueError: the choice is no number of a place.
        """
        if not self.action_space.contains(action):
            raise ValueError(f"the choice is {shown(action)}; give a whole number from 0 to {self._places - 1}")
        now, choice = self._now, int(action)
        allowed = bool(now.mask[choice])
        native = now.actions[choice] if choice < len(now.actions) else self._instead(choice)
        observation, reward, terminated, truncated, info = self.env.step(copy.deepcopy(native))
        return observation, reward, terminated, truncated, self._told(observation, info, refused=not allowed)

    @property
    def _now(self) -> _Shown:
        if self._shown is None:
            raise gym.error.ResetNeeded("no episode has begun, so there is no menu; call reset() first")
        return self._shown

    def _told(self, observation: Any, info: Mapping[str, Any], *, refused: bool) -> dict[str, Any]:
        """Return ``info`` with the menu as it is now."""
        entries = self._fixed if self._fixed is not None else self._entries(self._menu(observation, info))
        actions = list(entries.values())
        empty = self._places - len(actions)
        native = info.get(MASK)
        mask = np.array([*(_possible(each, self.env.action_space, native) for each in actions), *[False] * empty])
        self._shown = _Shown((*entries, *[""] * empty), actions, mask.astype(np.int8))
        return {**info, MASK: self._shown.mask.copy(), "menu": self._shown.names, "menu_refused": refused}

    def _entries(self, menu: Mapping[str, Entry]) -> dict[str, Any]:
        """Return a menu's actions by name."""
        if not isinstance(menu, Mapping) or not all(isinstance(name, str) and name for name in menu):
            raise TypeError(f"a menu is entries by name, got {shown(menu)}; give {{NAME: ACTION, …}}")
        if not 0 < len(menu) <= self._places:
            raise ValueError(
                f"the menu has {len(menu)} entries: {shown(list(menu))}; give 1 to {self._places} (places)"
            )
        return {name: self._native(name, entry) for name, entry in menu.items()}

    def _native(self, name: str, entry: Entry) -> Any:
        """Return the environment's action that an entry is."""
        if self.env.action_space.contains(entry):
            return entry
        if self._world is None or not isinstance(entry, Mapping) or not {"tool"} <= set(entry) <= {"tool", "arguments"}:
            call = ' nor a call {"tool": …, "arguments": {…}}' if self._world is not None else ""
            raise TypeError(f"menu entry {name!r} is {shown(entry)}, no action of {self.env.action_space}{call}")
        try:
            return self._world.action_of(checked(entry["tool"], entry.get("arguments", {}), self._world.tools))
        except CallError as error:
            raise ValueError(f"menu entry {name!r}: {error}") from None

    def _instead(self, choice: int) -> Any:
        """Return the action that the choice of an empty place takes."""
        if self._refused is not None or self._world is None:
            return self._refused
        return self._world.malformed(f"place {choice} of the menu is empty; choose where action_mask is 1")


class _Shown(NamedTuple):
    """A menu as it stands."""

    names: tuple[str, ...]  # (places,)
    actions: list[Any]
    """Of the entries; empty places have none."""
    mask: NDArray[np.int8]  # (places,)


def _possible(action: Any, space: gym.Space[Any], mask: Any) -> bool:
    """Return whether the environment's own mask, where it has one, lets an action be."""
    if not isinstance(space, spaces.Discrete) or not isinstance(mask, np.ndarray) or mask.shape != (space.n,):
        return True
    return bool(mask[int(action) - int(space.start)])
