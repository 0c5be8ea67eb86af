"""Calls as the plain object that ``TermEnv`` itself takes: ``{"command": "ls", "timeout": 10}``.

A tool with a main text is known by it: the object holds its arguments. Any other is a key of its own, with its
arguments as the value, or ``true`` where it has none: ``{"submit": true}``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rolf.interface.call import CallError, shown
from rolf.interface.jsontext import only_object, written
from rolf.interface.style import Named, Style
from rolf.interface.tool import Tool
from rolf.interface.wording import described, kind, usage

THOUGHT = "thought"


def describe(tools: Sequence[Tool]) -> str:
    """Return the objects that can be answered, key by key."""
    objects = "\n".join(_object(tool) for tool in tools)
    examples = "\n".join(compose(tool, tool.example, "") for tool in usage(tools))
    return (
        "Answer with one JSON object, which does one of these things. It may hold what you think under "
        f'"{THOUGHT}".\n{objects}\n\nFor example:\n{examples}'
    )


def _sign(tool: Tool) -> str:
    """Return the key by which a tool is known."""
    return tool.body or tool.name


def _object(tool: Tool) -> str:
    keys = [f'  - "{name}" ({kind(tool, name)}){described(tool, name)}' for name in tool.parameters.model_fields]
    if tool.body:
        return "\n".join([f'- An object with "{tool.body}": {tool.description} Its keys:', *keys])
    if keys:
        return "\n".join([f'- An object with "{tool.name}" alone: {tool.description} Its value is an object:', *keys])
    return f'- {{"{tool.name}": true}}: {tool.description}'


def compose(tool: Tool, arguments: Mapping[str, Any], thought: str) -> str:
    """Return the object."""
    said = {THOUGHT: thought} if thought else {}
    return written(said | (dict(arguments) if tool.body else {tool.name: dict(arguments) or True}))


def parse(text: str, tools: Sequence[Tool]) -> Named:
    """Return what the one object in a text does."""
    given = only_object(text)
    given.pop(THOUGHT, None)
    meant = [tool for tool in tools if _sign(tool) in given]
    if len(meant) != 1:
        signs = ", ".join(_sign(tool) for tool in tools)
        which = f"both {_sign(meant[0])} and {_sign(meant[1])}" if meant else f"none of them ({shown(list(given))})"
        raise CallError(f"the object must have exactly one of the keys {signs}; it has {which}")
    tool = meant[0]
    if tool.body:
        return Named(tool.name, given)
    if len(given) > 1:
        beside = next(key for key in given if key != tool.name)
        raise CallError(f"{shown(beside)} stands beside {tool.name}; arguments stand inside its value")
    arguments = given[tool.name]
    return Named(tool.name, {} if arguments is True else arguments)


STYLE = Style("json-plan", "a JSON object of the arguments alone", describe, compose, parse)
