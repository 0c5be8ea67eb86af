"""Call: a tool and its arguments, and the reasons why a text is none."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from rolf.interface.tool import Tool

SHOWN = 3
"""Faults that a reason names; the first ones are mended first."""
VALUE_LENGTH = 80
"""Characters of a wrong value that a reason shows."""
REASON_LENGTH = 600
"""Characters of a whole reason; it becomes part of an observation."""


class CallError(ValueError):
    """A text is no call of a tool; the message is for whoever wrote it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason if len(reason) <= REASON_LENGTH else f"{reason[: REASON_LENGTH - 1]}…")


@dataclass(frozen=True, slots=True)
class Call:
    """One use of a tool."""

    tool: str
    """Its name."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """By parameter; plain data. What is left out has its default."""

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"tool": self.tool, "arguments": dict(self.arguments)}


def checked(name: object, arguments: object, tools: Sequence[Tool]) -> Call:
    """Return the call of that name with these arguments, if there is such a one.

    Raises:
        CallError: no tool has that name, or it does not take these arguments.
    """
    tool = next((each for each in tools if each.name == name), None)
    if tool is None:
        known = [each.name for each in tools]
        raise CallError(f"no tool is named {shown(name)}{_near(name, known)}; {listed('tool', known)}")
    if not isinstance(arguments, dict):
        raise CallError(f"arguments of {tool.name} must be an object of names and values, got {shown(arguments)}")
    _check_names(tool, arguments)
    try:
        # As JSON, for a list is as good as a tuple there, and what is no plain data is found out.
        tool.parameters.model_validate_json(json.dumps(arguments, allow_nan=False, ensure_ascii=False))
    except ValidationError as error:
        raise CallError(f"{tool.name}: {_faults(error)}") from None
    except (TypeError, ValueError) as error:
        raise CallError(f"{tool.name}: an argument is no plain data ({error})") from None
    except RecursionError:
        raise CallError(f"{tool.name}: an argument is nested too deeply") from None
    return Call(tool.name, arguments)


def _check_names(tool: Tool, arguments: Mapping[Any, Any]) -> None:
    names = list(tool.parameters.model_fields)
    for given in arguments:
        if given not in names:
            raise CallError(f"{tool.name} has no {shown(given)}{_near(given, names)}; {listed('parameter', names)}")
    missing = [name for name in tool.required if name not in arguments]
    if missing:
        raise CallError(f"{tool.name} needs {' and '.join(missing)}; {listed('parameter', names)}")


def _near(name: object, known: Iterable[str]) -> str:
    # A long name is nobody's slip, and comparing it would take its length squared.
    near = get_close_matches(name, known, n=1) if isinstance(name, str) and len(name) <= VALUE_LENGTH else []
    return f"; did you mean {near[0]!r}?" if near else ""


def listed(kind: str, names: Sequence[str]) -> str:
    """Return which names there are: ``tools: run, submit``."""
    return f"{kind}s: {', '.join(names)}" if names else f"it has no {kind}s"


def _faults(error: ValidationError) -> str:
    if error.error_count() > 50:  # a hostile text has a million of them, and listing them would take seconds
        return f"{error.error_count()} faults in its arguments"
    said = []
    for each in error.errors(include_url=False, include_context=False)[:SHOWN]:
        where = ".".join(str(part)[:VALUE_LENGTH] for part in each["loc"])
        wanted = f"{each['msg'][:1].lower()}{each['msg'][1:]}"
        said.append(f"{where + ': ' if where else ''}{wanted}, got {shown(each['input'])}")
    more = error.error_count() - SHOWN
    return "; ".join(said) + (f"; and {more} more" if more > 0 else "")


def shown(value: object) -> str:
    """Return ``repr(value)``, cut where it is long."""
    try:
        # A long text is cut before repr sees it.
        text = repr(value[: 2 * VALUE_LENGTH]) if isinstance(value, str) else repr(value)
    except RecursionError:
        return f"a {type(value).__name__} that is nested too deeply"
    long = len(text) > VALUE_LENGTH
    return f"{text[: VALUE_LENGTH - 1]}…" if long else text
