"""Calls as Hermes and Qwen models are trained on: JSON in ``<tool_call>`` tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rolf.interface.call import CallError, shown
from rolf.interface.jsontext import value_at, written
from rolf.interface.style import Named, Style, refuse_marks
from rolf.interface.styles.openai_tools import function
from rolf.interface.tool import Tool

OPEN, CLOSE = "<tool_call>", "</tool_call>"
SHAPE = f'{OPEN}{{"name": …, "arguments": {{…}}}}{CLOSE}'


def describe(tools: Sequence[Tool]) -> str:
    """Return the tools, and what an answer looks like."""
    listed = "\n".join(written(function(tool)) for tool in tools)
    return (
        f"You are provided with function signatures within <tools></tools> tags:\n<tools>\n{listed}\n</tools>\n\n"
        f"Answer with one function call: a JSON object with name and arguments within {OPEN}{CLOSE} tags.\n\n"
        f"{compose(tools[0], tools[0].example, '')}"
    )


def compose(tool: Tool, arguments: Mapping[str, Any], thought: str) -> str:
    """Return the tags, after the thought."""
    refuse_marks(thought, (OPEN,), "hermes")
    said = f"{thought}\n" if thought else ""
    return f"{said}{OPEN}\n{written({'name': tool.name, 'arguments': dict(arguments)})}\n{CLOSE}"


def parse(text: str, _tools: Sequence[Tool]) -> Named:
    """Return what the one pair of tags in a text calls."""
    start = text.find(OPEN)
    if start < 0:
        raise CallError(f"the answer holds no {OPEN}; a call is like {SHAPE}")
    start += len(OPEN)
    given, end = value_at(text, start + _blank(text, start), OPEN)
    end += _blank(text, end)
    if not text.startswith(CLOSE, end):
        raise CallError(f"{OPEN} goes on with {shown(text[end : end + 60])} where {CLOSE} must be")
    if text.find(OPEN, end) >= 0:
        raise CallError(f"the answer holds several {OPEN}; give one, and wait for what comes of it")
    if not isinstance(given, dict) or given.keys() - {"arguments"} != {"name"}:
        raise CallError(f"{OPEN} holds {shown(given)}; a call is like {SHAPE}")
    return Named(given["name"], given.get("arguments", {}))


def _blank(text: str, start: int) -> int:
    """Return how much white space begins at a place."""
    at = start
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at - start


STYLE = Style("hermes", "JSON in <tool_call> tags", describe, compose, parse)
