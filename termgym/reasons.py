"""Turn what pydantic found wrong into one line that a model or a person can act on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import ValidationError

SHOWN = 3
"""Faults that a message names; an agent mends the first ones first."""
VALUE_LENGTH = 60
"""Characters of a wrong value that a message shows."""
MESSAGE_LENGTH = 600
"""Characters of a whole message; it becomes part of an observation."""


def shorten(value: object, length: int = VALUE_LENGTH) -> str:
    """Return ``repr(value)``, cut in the middle to ``length`` characters."""
    # A long text is cut before repr sees it: the repr of 8 MB is 8 MB more.
    text = repr(value[: 2 * length]) if isinstance(value, str) else repr(value)
    if len(text) <= length and not (isinstance(value, str) and len(value) > 2 * length):
        return text
    half = length // 2
    tail = repr(value[-half:]) if isinstance(value, str) else text[-half:]
    return f"{text[:half]}…{tail.lstrip(chr(39) + chr(34))[-half:]}"


def reason(error: ValidationError, example: str) -> str:
    """Return what is wrong with a text that should have been like ``example``."""
    if error.error_count() > 100:  # a hostile text has a million wrong keys; listing them would take seconds
        return f"not a plan: {error.error_count()} faults; a plan is a JSON object like {example}"
    faults = error.errors(include_url=False)
    said = "; ".join(
        _fault(each["type"], each["loc"], each["input"], each.get("ctx", {}), each["msg"], example)
        for each in faults[:SHOWN]
    )
    more = f"; and {len(faults) - SHOWN} more" if len(faults) > SHOWN else ""
    return (said + more)[:MESSAGE_LENGTH]


def _fault(
    kind: str, location: Sequence[int | str], value: object, context: Mapping[str, object], message: str, example: str
) -> str:
    where = _dotted(location)
    if not where:
        return f"not a plan: {_whole(kind, context, value)}; a plan is a JSON object like {example}"
    if kind == "missing":
        return f"{where}: missing; a plan is a JSON object like {example}"
    if kind == "extra_forbidden":
        return f"{where}: unknown key; it is not allowed here"
    if kind == "union_tag_not_found":
        return f"{where}: the key 'type' is missing, got {shorten(value)}"
    if kind == "union_tag_invalid":
        return f"{where}: type {shorten(context.get('tag'))} is unknown; allowed are {context.get('expected_tags')}"
    wanted = message[0].lower() + message[1:]
    return f"{where}: {wanted.replace('input should', 'should')}, got {shorten(value)}"


def _whole(kind: str, context: Mapping[str, object], value: object) -> str:
    if kind == "json_invalid":
        return f"no JSON ({context.get('error')}), got {shorten(value)}"
    if kind == "string_unicode":
        return f"the text has half of a surrogate pair, which no encoding can carry, got {shorten(value)}"
    return f"no JSON object, got {shorten(value)}"


def _dotted(location: Sequence[int | str]) -> str:
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.lstrip(".")
