"""Style: a way in which tools are described to a policy, and calls are written and read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rolf.interface.call import Call, CallError, checked, shown
from rolf.interface.tool import Tool, by_name

ANSWER_LIMIT = 16 << 20
"""Longest text that is read [code points]."""


class Named(NamedTuple):
    """What a text says is called, before it is known whether there is such a tool."""

    tool: object
    arguments: object


@dataclass(frozen=True, slots=True)
class Style:
    """One style; what differs from style to style is in the three functions."""

    name: str
    summary: str
    describe: Callable[[Sequence[Tool]], str]
    """Says which tools there are and how they are called, with an example."""
    compose: Callable[[Tool, Mapping[str, Any], str], str]
    """Writes a call that is known to be allowed: of a tool, with arguments, after a thought."""
    parse: Callable[[str, Sequence[Tool]], Named]
    """Finds the one call in a text; raises `CallError`."""

    def write(self, call: Call, tools: Sequence[Tool], thought: str = "") -> str:
        """Return the text of a call; `read` gives the same call back, whatever its arguments hold.

        Raises:
            CallError: there is no such call, or the style cannot carry this thought.
        """
        checked(call.tool, call.arguments, tools)
        return self.compose(by_name(tools)[call.tool], call.arguments, thought)

    def read(self, text: str, tools: Sequence[Tool]) -> Call:
        """Return the call that a text holds.

        What is not a call is never taken for the call that it resembles.

        Raises:
            CallError: it holds none, or several, or one that is not allowed; the message is for whoever wrote it.
            TypeError: it is no text.
        """
        if not isinstance(text, str):
            hint = "; give the JSON text of the whole message: json.dumps(message)" if isinstance(text, Mapping) else ""
            raise TypeError(f"an answer is a str, got {shown(text)} of type {type(text).__name__}{hint}")
        if len(text) > ANSWER_LIMIT:
            raise CallError(f"the answer has {len(text)} characters; at most {ANSWER_LIMIT} are read")
        named = self.parse(text, tools)
        return checked(named.tool, named.arguments, tools)


def refuse_marks(thought: str, marks: Sequence[str], style: str) -> None:
    """Refuse a thought that would be read as a call, or as the end of itself.

    Raises:
        CallError: it holds one of the marks.
    """
    for mark in marks:
        if mark in thought:
            raise CallError(f"the thought holds {mark!r}, which has a meaning of its own in {style}; leave it out")
