"""Tool calls as OpenAI's chat completions have them: a message with ``tool_calls``, arguments as JSON text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rolf.interface.call import CallError, shown
from rolf.interface.jsontext import only_object, value, written
from rolf.interface.style import Named, Style
from rolf.interface.tool import Tool

SHAPE = '{"role": "assistant", "tool_calls": [{"type": "function", "function": {"name": …, "arguments": "{…}"}}]}'


def function(tool: Tool) -> dict[str, Any]:
    """Return a tool as OpenAI's ``tools`` list has it."""
    content = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return {"type": "function", "function": content}


def describe(tools: Sequence[Tool]) -> str:
    """Return the list of tools, and what an answer looks like."""
    listed = ",\n".join(f"  {written(function(tool))}" for tool in tools)
    return (
        f"Tools, as JSON:\n[\n{listed}\n]\n\n"
        "Answer with one JSON message that calls one tool. `arguments` is a string that holds a JSON object. "
        f"`content` may hold what you think.\n\n{compose(tools[0], tools[0].example, 'I begin.')}"
    )


def compose(tool: Tool, arguments: Mapping[str, Any], thought: str) -> str:
    """Return the message of an assistant."""
    called = {"name": tool.name, "arguments": written(dict(arguments))}
    call = {"id": "call_0", "type": "function", "function": called}
    return written({"role": "assistant", "content": thought or None, "tool_calls": [call]})


def parse(text: str, _tools: Sequence[Tool]) -> Named:
    """Return what the one message in a text calls."""
    calls = only_object(text).get("tool_calls")
    if not isinstance(calls, list) or not calls:
        raise CallError(f"the message has no tool_calls; it is like {SHAPE}")
    if len(calls) > 1:
        raise CallError(f"the message has {len(calls)} tool_calls; give one, and wait for what comes of it")
    called = calls[0].get("function") if isinstance(calls[0], dict) else None
    if not isinstance(called, dict) or "name" not in called:
        raise CallError(f"tool_calls[0] names no function: {shown(calls[0])}; the message is like {SHAPE}")
    arguments = called.get("arguments", {})
    # Many models write the object itself. It says the same, so it is taken.
    return Named(called["name"], value(arguments, "arguments") if isinstance(arguments, str) else arguments)


STYLE = Style("openai-tools", "a JSON message with tool_calls", describe, compose, parse)
