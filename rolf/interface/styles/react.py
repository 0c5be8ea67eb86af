"""Calls as ReAct prompts have them: Thought, Action, Action Input (Yao et al. 2023, arXiv:2210.03629)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from rolf.interface.call import CallError, listed, shown
from rolf.interface.jsontext import value_at, written
from rolf.interface.style import Named, Style
from rolf.interface.tool import Tool
from rolf.interface.wording import bullets

ACTION = re.compile(r"^Action:([^\n]*)$", re.MULTILINE)
INPUT = re.compile(r"^Action Input:[ \t\r\n]*", re.MULTILINE)
LABEL = re.compile(r"^(Action|Action Input|Observation):", re.MULTILINE)


def describe(tools: Sequence[Tool]) -> str:
    """Return a list of tools, and what an answer looks like."""
    names = ", ".join(tool.name for tool in tools)
    return (
        f"You have these tools:\n{bullets(tools)}\n\n"
        "Use this format, one action an answer, and stop after the input:\n\n"
        f"Thought: what to do next and why\nAction: one of {names}\n"
        "Action Input: the arguments as a JSON object\n\n"
        f"For example:\n\n{compose(tools[0], tools[0].example, 'I begin.')}"
    )


def compose(tool: Tool, arguments: Mapping[str, Any], thought: str) -> str:
    """Return the three lines."""
    label = LABEL.search(thought)
    if label is not None:
        raise CallError(f"a line of the thought begins with {label[0]!r}, which has a meaning of its own in react")
    said = f"Thought: {thought}\n" if thought else ""
    return f"{said}Action: {tool.name}\nAction Input: {written(dict(arguments))}"


def parse(text: str, tools: Sequence[Tool]) -> Named:
    """Return what the one action in a text calls."""
    actions, inputs = list(ACTION.finditer(text)), list(INPUT.finditer(text))
    if not actions:
        known = listed("tool", [tool.name for tool in tools])
        raise CallError(f"the answer has no line 'Action: NAME' ({known}), with 'Action Input: {{…}}' below it")
    if len(actions) > 1 or len(inputs) > 1:
        raise CallError("the answer has several actions; give one, stop after its input, and wait for what comes of it")
    if not inputs or inputs[0].start() < actions[0].end() or text[actions[0].end() : inputs[0].start()].strip():
        raise CallError("right below 'Action: NAME' there must be 'Action Input:' with the arguments as a JSON object")
    arguments, end = value_at(text, inputs[0].end(), "Action Input")
    if text[end:].strip():
        raise CallError(f"{shown(text[end : end + 60].strip())} follows the Action Input; stop there")
    return Named(actions[0][1].strip(), arguments)


STYLE = Style("react", "Thought, Action, Action Input", describe, compose, parse)
