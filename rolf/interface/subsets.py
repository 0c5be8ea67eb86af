"""Subsets: how much of its tools an environment offers; each leaves every task solvable."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rolf.interface.choosing import known
from rolf.interface.tool import Tool, narrowed


def _all(tools: Sequence[Tool]) -> tuple[Tool, ...]:
    return tuple(tools)


def _usual(tools: Sequence[Tool]) -> tuple[Tool, ...]:
    return tuple(narrowed(tool, frozenset(tool.parameters.model_fields) - tool.rare) for tool in tools)


def _needed(tools: Sequence[Tool]) -> tuple[Tool, ...]:
    return tuple(narrowed(tool, frozenset(tool.required)) for tool in tools if tool.needed)


SUBSETS: Mapping[str, Callable[[Sequence[Tool]], tuple[Tool, ...]]] = {
    "all": _all,
    "usual": _usual,
    "needed": _needed,
}
"""``usual``: without rare parameters; ``needed``: needed tools with the parameters that every call has."""


def subset(name: str, tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """Return the tools of the subset of that name.

    Raises:
        LookupError: there is none; the message suggests the nearest.
    """
    known("subset", name, SUBSETS)
    return SUBSETS[name](tools)
