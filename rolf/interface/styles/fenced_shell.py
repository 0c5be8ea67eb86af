"""Calls as fenced blocks: the text of the main parameter in the block, the others as ``#:`` directives above it.

Blocks are CommonMark's (https://spec.commonmark.org/0.31.2/#fenced-code-blocks): the closing fence is at least as long
as the opening one, so a fence longer than any run of backticks inside carries every text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from rolf.interface.call import CallError, shown
from rolf.interface.jsontext import value, written
from rolf.interface.style import Named, Style, refuse_marks
from rolf.interface.tool import Tool
from rolf.interface.wording import bullets, usage

OPEN = re.compile(r"^ {0,3}(`{3,})([^`\n]*)$", re.MULTILINE)
RUN = re.compile(r"`+")
DIRECTIVE = "#:"


def describe(tools: Sequence[Tool]) -> str:
    """Return a list of tools, and what blocks look like."""
    blocks = "\n\n".join(compose(tool, tool.example, "") for tool in usage(tools))
    return (
        f"What you can do:\n{bullets(tools)}\n\n"
        f"Answer with one fenced block; its first word says what it does. {_where_texts_go(tools)}"
        f"Every other parameter is a line `{DIRECTIVE} name = value` at the top of the block, its value in JSON. "
        f"A line `{DIRECTIVE}` alone ends them.\n\n{blocks}"
    )


def _where_texts_go(tools: Sequence[Tool]) -> str:
    said = [f"{_word(tool)} for {tool.name}, with its {tool.body}" for tool in tools if tool.body]
    return f"The block holds text: {'; '.join(said)}. " if said else ""


def _word(tool: Tool) -> str:
    return tool.language or tool.name


def compose(tool: Tool, arguments: Mapping[str, Any], thought: str) -> str:
    """Return a block, after the thought."""
    refuse_marks(thought, ("```",), "fenced-shell")
    lines = [f"{DIRECTIVE} {name} = {written(each)}" for name, each in arguments.items() if name != tool.body]
    body = arguments[tool.body] if tool.body else ""
    if body.startswith(DIRECTIVE):
        lines.append(DIRECTIVE)
    if tool.body:
        lines.append(body)
    content = "\n".join(lines)
    fence = "`" * max(3, 1 + max((len(run) for run in RUN.findall(content)), default=0))
    block = f"{fence}{_word(tool)}\n{content}\n{fence}" if lines else f"{fence}{_word(tool)}\n{fence}"
    return f"{thought}\n\n{block}" if thought else block


def parse(text: str, tools: Sequence[Tool]) -> Named:
    """Return what the one block in a text does."""
    first = OPEN.search(text)
    if first is None:
        words = ", ".join(f"```{_word(tool)}" for tool in tools)
        raise CallError(f"the answer holds no fenced block; it must begin with one of {words}")
    content, end = _block(text, first)
    if OPEN.search(text, end) is not None:
        raise CallError("the answer holds several fenced blocks; give one, and wait for what comes of it")
    word = first[2].strip()
    tool = next((each for each in tools if word and word in (each.name, each.language)), None)
    if tool is None:
        words = ", ".join(_word(each) for each in tools)
        raise CallError(
            f"the block is marked {shown(word)}, which is nothing that can be done; mark it with one of {words}"
        )
    arguments, body = _directives(content or "")
    if tool.body and tool.body in arguments:
        raise CallError(f"{tool.body} is the text of the block itself, not a directive")
    if tool.body and body is not None and content is not None:
        arguments[tool.body] = body
    elif body and not body.isspace():
        raise CallError(f"{tool.name} takes no text, got {shown(body)}; its parameters are `{DIRECTIVE} name = value`")
    return Named(tool.name, arguments)


def _block(text: str, opening: re.Match[str]) -> tuple[str | None, int]:
    """Return what stands in a block (None: not even an empty line), and where the block ends."""
    closing = re.compile(rf"^ {{0,3}}`{{{len(opening[1])},}}[ \t\r]*$", re.MULTILINE)
    start = opening.end() + 1
    end = closing.search(text, start)
    if end is None:
        raise CallError(f"the block is not closed; a line {opening[1][:8]} must end it")
    return (None if end.start() == start else text[start : end.start() - 1]), end.end()


def _directives(content: str) -> tuple[dict[str, Any], str | None]:
    """Return the directives at the top of a block, and what follows them (None: no line at all)."""
    given: dict[str, Any] = {}
    at = 0
    while content.startswith(DIRECTIVE, at):
        end = content.find("\n", at)
        line = content[at + len(DIRECTIVE) : end if end >= 0 else len(content)].strip()
        at = end + 1 if end >= 0 else len(content) + 1
        if not line:
            break
        name, equals, said = line.partition("=")
        name = name.strip()
        if not equals or name in given:
            fault = "is given twice" if equals else "has no value"
            raise CallError(f"the directive {shown(name)} {fault}; write `{DIRECTIVE} name = value`, each once")
        given[name] = value(said, name)
    return given, content[at:] if at <= len(content) else None


STYLE = Style("fenced-shell", "a fenced block, parameters as directives", describe, compose, parse)
