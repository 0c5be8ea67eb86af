"""ParamAction: a tool and its arguments as numbers, for an action."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple, SupportsFloat

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import NDArray

from rolf.interface import Call, CallError, Tool
from rolf.interface.call import checked, listed, shown
from rolf_wrappers.calls import Calls, world_of
from rolf_wrappers.menu_action import MASK

MOST_VALUES = 256
"""Values that a parameter is given by itself, without being told them."""
MOST_CALLS = 65_536
"""Calls up to which a mask is told: all of them are looked at once."""
Values = tuple[Any, ...]


class ParamAction(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Take a tool and its arguments as numbers, ``MultiDiscrete([tools, values of a parameter, …])``, for an action.

    The first number is the tool; then comes one number for each parameter, which says which of its values is meant.
    Tools whose parameters have the same name and the same values share a number; those that the tool does not take are
    not looked at. So every action is a call that is allowed. ``numbers`` says what each stands for.

    Values are found where a tool's schema has few: choices, constants, booleans, whole numbers with bounds. All others
    are given by ``values``: ``{"command": ["ls", "pwd"]}``, or ``{"run.command": …}`` for one tool's alone. An optional
    parameter without values keeps its default; for one that every call must have they are needed.

    Where the environment's own actions are ``Discrete`` and ``info["action_mask"]`` rules some of them out,
    ``info["action_mask"]`` (int8) and ``action_masks()`` (bool, as MaskablePPO wants it) tell for every number which of
    its values occur in a call that is possible, one number after the other. Two that occur need not be possible
    together: what the environment rules out is taken all the same, and it does with it what it does with such.

    Works on every environment that is ``rolf.interface.Tooled``; ``info["call"]`` tells the call, as `ToolCallAction`
    does. There is no vector version; ``make_vec(..., vectorization_mode="sync", wrappers=[...])`` wraps each
    environment.

    Example:
        >>> import gymnasium as gym
        >>> env = ParamAction(gym.make("linegym:LineEnv-v1"), tools=["wait", "order", "close"])
        >>> env.action_space
        MultiDiscrete([ 3  8  2 24])
        >>> [number.name for number in env.numbers]
        ['tool', 'part', 'quantity', 'station']
        >>> _ = env.reset(seed=7)
        >>> env.step([1, 2, 1, 0])[4]["call"]["arguments"]
        '{"part": "jam", "quantity": 3}'

    Args:
        env: The environment.
        values: What a parameter can be, by its name or by ``TOOL.PARAMETER``; plain data.
        tools: Names of the tools that can be called; None: all.

    Raises:
        TypeError: the environment has no tools.
        ValueError: a tool or parameter is unknown, a value is not allowed, or a parameter needs values.

    Change log:
        * v0.2.0 - Added
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        values: Mapping[str, Sequence[Any]] | None = None,
        *,
        tools: Sequence[str] | None = None,
    ) -> None:
        given = {name: list(each) for name, each in (values or {}).items()}
        kept = None if tools is None else list(tools)
        RecordConstructorArgs.__init__(self, values=given, tools=kept)
        gym.Wrapper.__init__(self, env)
        self._calls = Calls(env)
        self._tools = _chosen(world_of(env).tools, kept)
        self._takes = _parameters(self._tools, given)
        self.numbers = _numbers(self._tools, self._takes)
        self._at = {number.key: place for place, number in enumerate(self.numbers)}
        self.action_space = spaces.MultiDiscrete([len(number.values) for number in self.numbers])
        self.metadata = self._calls.translated(env.metadata, self._action_of)
        self._possible: _Possible | None = None
        self._mask: NDArray[np.int8] | None = None
        self._begun = False

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which values occur in a call that is possible now, one number after the other.

        Raises:
            gymnasium.error.ResetNeeded: no episode has begun.
        """
        if not self._begun:
            raise gym.error.ResetNeeded("no episode has begun, so nothing is possible yet; call reset() first")
        mask = np.ones(int(self.action_space.nvec.sum()), np.int8) if self._mask is None else self._mask  # type: ignore[attr-defined]
        return mask.astype(np.bool_)

    def call(self, action: Any) -> Call:
        """Return the call that an action is.

        Raises:
            ValueError: it is none of the action space.
        """
        chosen = self._checked(action)
        tool = self._tools[chosen[0]]
        return Call(tool.name, {name: self.numbers[at].values[chosen[at]] for name, at in self._places(tool)})

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._calls.begin()
        self._begun = True
        return observation, self._told(info)

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Take the step that the call does.

        Raises:
            ValueError: the action is none of the action space.
        """
        native = self._calls.action(lambda call: call, self.call(action))
        observation, reward, terminated, truncated, info = self.env.step(native)
        return observation, reward, terminated, truncated, self._told(info)

    def _told(self, info: Mapping[str, Any]) -> dict[str, Any]:
        """Return ``info`` with the call, and with the mask of these numbers in the place of the environment's."""
        told = self._calls.told(info)
        native = info.get(MASK)
        space = self.env.action_space
        self._mask = None
        if isinstance(space, spaces.Discrete) and isinstance(native, np.ndarray) and native.shape == (space.n,):
            if self._possible is None:
                self._possible = self._all_calls(int(space.start))
            if self._possible is not None:
                self._mask = self._possible.mask(native)
                told[MASK] = self._mask.copy()
                return told
        told.pop(MASK, None)
        return told

    def _all_calls(self, start: int) -> _Possible | None:
        """Return every call that there is with the environment's action for it; None: there are too many."""
        sizes = self.action_space.nvec.tolist()  # type: ignore[attr-defined]
        if sum(math.prod(sizes[at] for _, at in self._places(tool)) for tool in self._tools) > MOST_CALLS:
            return None
        firsts = np.concatenate([[0], np.cumsum(sizes)])
        actions: list[int] = []
        calls: list[int] = []
        places: list[int] = []
        for number, tool in enumerate(self._tools):
            taken = self._places(tool)
            for chosen in product(*(range(sizes[at]) for _, at in taken)):
                values = {name: self.numbers[at].values[of] for (name, at), of in zip(taken, chosen, strict=True)}
                bits = [number, *(int(firsts[at]) + of for (_, at), of in zip(taken, chosen, strict=True))]
                calls += [len(actions)] * len(bits)
                places += bits
                actions.append(int(self._calls.action(lambda call: call, Call(tool.name, values))) - start)
        self._calls.begin()
        return _Possible(np.array(actions), np.array(calls), np.array(places), firsts)

    def _places(self, tool: Tool) -> list[tuple[str, int]]:
        """Return a tool's parameters, each with the place of its number."""
        return [(name, self._at[name, _frozen(values)]) for name, values in self._takes[tool.name].items()]

    def _checked(self, action: Any) -> list[int]:
        """Return an action as whole numbers.

        Raises:
            ValueError: it is none.
        """
        array = np.asarray(action)
        sizes: NDArray[np.int64] = self.action_space.nvec  # type: ignore[attr-defined]
        whole = array.shape == sizes.shape and array.dtype.kind in "iu"
        if not whole or (array < 0).any() or (array >= sizes).any():
            raise ValueError(f"the action is {shown(action)}; give {len(sizes)} whole numbers below {sizes.tolist()}")
        return [int(each) for each in array]

    def _action_of(self, call: Call) -> NDArray[np.int64] | None:
        """Return the action that makes a call, None where no such call can be made."""
        numbers = np.zeros(len(self.numbers), np.int64)
        tool = next((each for each in self._tools if each.name == call.tool), None)
        if tool is None or set(call.arguments) - set(self._takes[tool.name]):
            return None
        numbers[0] = self._tools.index(tool)
        for name, at in self._places(tool):
            value = call.arguments.get(name, tool.parameters.model_fields[name].get_default())
            if value not in self.numbers[at].values:
                return None
            numbers[at] = self.numbers[at].values.index(value)
        return numbers


class Number(NamedTuple):
    """What one number of an action says."""

    name: str
    """``tool``, or the parameter; ``TOOL.PARAMETER`` where others of that name have other values."""
    values: Values
    key: Any
    """What tells it from others."""


class _Possible(NamedTuple):
    """All calls, and what each says."""

    actions: NDArray[np.int64]  # (calls,)
    """The environment's action, from 0."""
    calls: NDArray[np.int64]  # (bits,)
    places: NDArray[np.int64]  # (bits,)
    """Where in the mask a call of ``calls`` has one of its values."""
    firsts: NDArray[np.int64]  # (numbers + 1,)

    def mask(self, native: NDArray[Any]) -> NDArray[np.int8]:
        """Return the values that occur in a call that is possible: (values of all numbers,)."""
        lets = native[self.actions].astype(np.bool_)
        mask = np.zeros(self.firsts[-1], np.int8)
        mask[self.places[lets[self.calls]]] = 1
        # Of a number that is in no possible call any value will do; from a distribution over none nothing can be drawn.
        empty = np.maximum.reduceat(mask, self.firsts[:-1]) == 0
        mask[np.repeat(empty, np.diff(self.firsts))] = 1
        return mask


def _chosen(tools: Sequence[Tool], names: Sequence[str] | None) -> list[Tool]:
    """Return the tools of these names.

    Raises:
        ValueError: there is none of a name, one stands there twice, or none are left.
    """
    by_name = {tool.name: tool for tool in tools}
    wanted = [*by_name] if names is None else list(names)
    if not wanted or len(set(wanted)) < len(wanted):
        raise ValueError(f"tools={shown(wanted)} names none, or one twice; {listed('tool', [*by_name])}")
    if unknown := [name for name in wanted if name not in by_name]:
        raise ValueError(f"tools: no tool is named {shown(unknown[0])}; {listed('tool', [*by_name])}")
    return [by_name[name] for name in wanted]


def _parameters(tools: Sequence[Tool], given: Mapping[str, Sequence[Any]]) -> dict[str, dict[str, Values]]:
    """Return by tool its parameters that have values, with these.

    Raises:
        ValueError: what is given fits no parameter, or a parameter needs values.
    """
    unused = set(given)
    takes: dict[str, dict[str, Values]] = {}
    for tool in tools:
        takes[tool.name] = {}
        for name in tool.parameters.model_fields:
            key = f"{tool.name}.{name}" if f"{tool.name}.{name}" in given else name
            unused.discard(key)
            values = tuple(given[key]) if key in given else _finite(tool.schema["properties"][name])
            if values:
                takes[tool.name][name] = values
            elif name in tool.required or key in given:
                raise ValueError(
                    f"{tool.name}.{name} can be too much to be numbered; give values={{'{tool.name}.{name}': […]}}, or "
                    "leave the tool out with tools=[…]"
                )
        _try(tool, takes[tool.name])
    if unused:
        known = [f"{tool.name}.{name}" for tool in tools for name in tool.parameters.model_fields]
        raise ValueError(f"values: {shown(min(unused))} is no parameter; {listed('parameter', known)}")
    return takes


def _try(tool: Tool, takes: Mapping[str, Values]) -> None:
    """Raise ValueError where a value is not allowed, or stands there twice."""
    first = {name: values[0] for name, values in takes.items()}
    for name, values in takes.items():
        if len(set(_frozen(values))) < len(values):
            raise ValueError(f"values: {tool.name}.{name} has a value twice in {shown(list(values))}")
        for value in values:
            try:
                checked(tool.name, {**first, name: value}, [tool])
            except CallError as error:
                raise ValueError(f"values: {error}") from None


def _numbers(tools: Sequence[Tool], takes: Mapping[str, Mapping[str, Values]]) -> tuple[Number, ...]:
    """Return what each number of an action says."""
    found: dict[Any, list[tuple[str, str, Values]]] = {}
    for tool in tools:
        for name, values in takes[tool.name].items():
            found.setdefault((name, _frozen(values)), []).append((tool.name, name, values))
    alike = [name for name, _ in found]
    numbers = [
        Number(name if alike.count(name) == 1 else f"{tool}.{name}", values, key)
        for key, [(tool, name, values), *_] in found.items()
    ]
    return Number("tool", tuple(tool.name for tool in tools), ()), *numbers


def _frozen(values: Iterable[Any]) -> tuple[str, ...]:
    """Return values as something that can be compared and hashed: 1 and True are two."""
    return tuple(repr(value) for value in values)


def _finite(schema: Mapping[str, Any]) -> Values:
    """Return all values that a schema allows; none where they are not few."""
    return tuple(_listed(schema))


def _listed(schema: Mapping[str, Any]) -> Iterator[Any]:
    if "const" in schema:
        yield schema["const"]
    elif "enum" in schema:
        yield from schema["enum"]
    elif schema.get("type") == "boolean":
        yield from (False, True)
    elif schema.get("type") == "integer" and {"minimum", "maximum"} <= set(schema):
        low, high = math.ceil(schema["minimum"]), math.floor(schema["maximum"])
        if high - low < MOST_VALUES and "multipleOf" not in schema:
            yield from range(low, high + 1)
