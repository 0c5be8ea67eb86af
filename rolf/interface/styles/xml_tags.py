"""Calls as tags: ``<invoke name="run">`` with a ``<parameter>`` for each argument, text verbatim between them.

The tags only look like XML. What a shell is told holds ``<``, ``&`` and ``"`` at every turn, and models do not escape
them; so text stands as it is up to the closing tag, and an XML parser would refuse most of it. CDATA carries what holds
the closing tag itself. One line feed after the opening tag and one before the closing one belong to the layout.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from rolf.interface.call import CallError, shown
from rolf.interface.jsontext import value, written
from rolf.interface.style import Named, Style, refuse_marks
from rolf.interface.tool import Tool
from rolf.interface.wording import described, kind

INVOKE = re.compile(r'<invoke\s+name="([^"<>]{0,200})"\s*>')
PARAMETER = re.compile(r'\s*<parameter\s+name="([^"<>]{0,200})"\s*>')
INVOKE_END = re.compile(r"\s*</invoke>")
PARAMETER_END = "</parameter>"
CDATA, CDATA_END = "<![CDATA[", "]]>"
EXAMPLE = '<invoke name="TOOL"><parameter name="NAME">VALUE</parameter></invoke>'


def describe(tools: Sequence[Tool]) -> str:
    """Return a tag for each tool, and what an answer looks like."""
    return (
        f"<tools>\n{''.join(_tag(tool) for tool in tools)}</tools>\n\n"
        "Call one tool at a time, in a block like this one. Text stands as it is, without escapes; numbers, lists and "
        f"objects are written as JSON.\n\n{compose(tools[0], tools[0].example, 'I begin.')}"
    )


def _tag(tool: Tool) -> str:
    parameters = "".join(
        f'  <parameter name="{name}" type="{kind(tool, name).replace(chr(34), chr(39))}">'
        f"{described(tool, name).removeprefix(': ')}</parameter>\n"
        for name in tool.parameters.model_fields
    )
    return f'<tool name="{tool.name}">\n  {tool.description}\n{parameters}</tool>\n'


def compose(tool: Tool, arguments: Mapping[str, Any], thought: str) -> str:
    """Return the block of a call."""
    refuse_marks(thought, ("<invoke",), "xml-tags")
    lines = [
        f'<parameter name="{name}">{_enclosed(each if name in tool.texts else written(each))}{PARAMETER_END}'
        for name, each in arguments.items()
    ]
    return "\n".join([*([thought] if thought else []), f'<invoke name="{tool.name}">', *lines, "</invoke>"])


def _enclosed(text: str) -> str:
    """Return a text so that it is read back as it is."""
    if PARAMETER_END in text or text.lstrip("\n").startswith(CDATA):
        parted = text.replace(CDATA_END, f"]]{CDATA_END}{CDATA}>")
        return f"{CDATA}{parted}{CDATA_END}"
    before = "\n" if text.startswith("\n") else ""
    after = "\n" if text.endswith("\n") else ""
    return before + text + after


def parse(text: str, tools: Sequence[Tool]) -> Named:
    """Return what the one ``<invoke>`` in a text calls."""
    begin = INVOKE.search(text)
    if begin is None:
        raise CallError(f"the answer holds no <invoke name=…>; a call is like {EXAMPLE}")
    tool = next((each for each in tools if each.name == begin[1]), None)
    if tool is None:
        return Named(begin[1], {})  # which of its parameters would be text nobody knows
    arguments: dict[str, Any] = {}
    at = begin.end()
    while (parameter := PARAMETER.match(text, at)) is not None:
        name = parameter[1]
        if name in arguments:
            raise CallError(f"the parameter {shown(name)} is given twice; which one counts?")
        content, at = _content(text, parameter.end(), name)
        arguments[name] = content if name in tool.texts else value(content, name)
    end = INVOKE_END.match(text, at)
    if end is None:
        near = shown(text[at : at + 60].lstrip())
        raise CallError(f"<invoke> has {near} where <parameter name=…> or </invoke> must be; a call is like {EXAMPLE}")
    if "<invoke" in text[: begin.start()] or "<invoke" in text[end.end() :]:
        raise CallError("the answer holds several <invoke>; give one, and wait for what comes of it")
    return Named(begin[1], arguments)


def _content(text: str, start: int, name: str) -> tuple[str, int]:
    """Return what stands in a parameter, and where its closing tag ends."""
    first = start + text.startswith("\n", start)
    if text.startswith(CDATA, first):
        return _cdata(text, first, name)
    end = text.find(PARAMETER_END, start)
    if end < 0:
        raise CallError(f"the parameter {shown(name)} is not closed; {PARAMETER_END} must follow its value")
    # One line feed at each end is layout; where there is only one between the tags, it is the one at the beginning.
    first = min(first, end)
    last = end - (end > first and text[end - 1] == "\n")
    return text[first:last], end + len(PARAMETER_END)


def _cdata(text: str, at: int, name: str) -> tuple[str, int]:
    parts = []
    while text.startswith(CDATA, at):
        end = text.find(CDATA_END, at)
        if end < 0:
            raise CallError(f"CDATA of the parameter {shown(name)} is not closed; {CDATA_END} must follow")
        parts.append(text[at + len(CDATA) : end])
        at = end + len(CDATA_END)
    at += text.startswith("\n", at)
    if not text.startswith(PARAMETER_END, at):
        raise CallError(f"{shown(text[at : at + 40])} follows the CDATA of {shown(name)}; {PARAMETER_END} must")
    return "".join(parts), at + len(PARAMETER_END)


STYLE = Style("xml-tags", "an <invoke> tag with a <parameter> for each argument", describe, compose, parse)
