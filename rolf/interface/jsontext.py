"""JSON in what a language model wrote: strict about the JSON, patient about the prose around it."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

from rolf.interface.call import CallError, shown

_BEGIN = re.compile(r'\{\s*"')
"""How an object begins that somebody meant: braces of prose and of shells (``${HOME}``, ``{}``) are passed over."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise CallError(f"the key {shown(twice)} stands there twice in one object; which one counts?")
    return found


def _no_constant(name: str) -> Any:
    raise CallError(f"{name} is no JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_constant)


def value_at(text: str, start: int, what: str = "what is given") -> tuple[Any, int]:
    """Return the JSON value that begins at a place, and where it ends.

    Raises:
        CallError: none begins there.
    """
    try:
        return _DECODER.raw_decode(text, start)
    except RecursionError:
        raise CallError(f"{what} is nested too deeply") from None
    except json.JSONDecodeError as error:
        near = shown(text[max(start, error.pos - 20) : error.pos + 40])
        raise CallError(f"{what} is no JSON: {error.msg.lower()} at {near}") from None
    except CallError:
        raise
    except ValueError:  # a whole number of thousands of digits, which Python does not read
        raise CallError(f"{what} is no JSON that can be read: a number is too long") from None


def value(text: str, what: str = "what is given") -> Any:
    """Return the JSON value that a text is, white space aside.

    Raises:
        CallError: it is none, or something follows it.
    """
    stripped = text.strip(" \t\r\n")
    found, end = value_at(stripped, 0, what)
    if end != len(stripped):
        raise CallError(f"{what} goes on after its JSON: {shown(stripped[end : end + 60])}")
    return found


def only_object(text: str) -> dict[str, Any]:
    """Return the one JSON object in a text.

    Raises:
        CallError: there is none, or a second, or one is broken: a part of a broken object is not taken for it.
    """
    first: dict[str, Any] | None = None
    at = _BEGIN.search(text)
    while at is not None:
        found, end = value_at(text, at.start(), "the object")
        if first is not None:
            raise CallError("the answer holds several JSON objects; give the one call that is meant")
        first = found
        at = _BEGIN.search(text, end)
    if first is None:
        raise CallError(f"the answer holds no JSON object; got {shown(text)}")
    return first


def written(data: Any) -> str:
    """Return data as JSON on one line; characters stay themselves."""
    return json.dumps(data, ensure_ascii=False)
