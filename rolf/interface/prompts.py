"""Prompts: what a policy is told before the first message, in several wordings.

``$purpose`` is the environment's own sentence on what is to be done in it, ``$tools`` the style's description of the
tools, ``$examples`` a call of each tool as the style writes it. What stands in for them is not looked through again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import Template

from rolf.interface.call import Call
from rolf.interface.choosing import known
from rolf.interface.style import Style
from rolf.interface.tool import Tool

TRAINING = ("plain", "terse", "few-shot", "colleague")
HELD_OUT = ("manual", "mission")

PROMPTS: Mapping[str, Template] = {
    "plain": Template(
        "$purpose\n\nYou act step by step: each of your answers is one call of a tool, and the next message tells you "
        "what came of it.\n\n$tools\n"
    ),
    "terse": Template("$purpose\nOne call an answer.\n\n$tools\n"),
    "few-shot": Template(
        "$purpose\n\nGive one call at a time and read what comes back before the next.\n\n$tools\n\n"
        "Each of these would be an answer:\n\n$examples\n"
    ),
    "colleague": Template(
        "Welcome to the shift. $purpose Nobody else will do it, and nobody answers questions: look for yourself. I "
        "carry out exactly one thing each time you write, and tell you what happened.\n\n$tools\n"
    ),
    "manual": Template(
        "# Purpose\n\n$purpose\n\n# Protocol\n\n1. You are sent a report.\n2. You send back one call.\n"
        "3. It is carried out, and you are sent the next report.\n\n"
        "# Interface\n\n$tools\n\n# Samples\n\n$examples\n"
    ),
    "mission": Template(
        "$tools\n\nThat is all you have, one use an answer. What it is for: $purpose You are judged by the state in "
        "which you leave things, not by what you say about it.\n"
    ),
}


def prompt(name: str, purpose: str, style: Style, tools: Sequence[Tool]) -> str:
    """Return the prompt of that name.

    Raises:
        LookupError: there is none; the message suggests the nearest.
    """
    known("prompt", name, PROMPTS)
    examples = "\n\n".join(style.write(Call(tool.name, dict(tool.example)), tools) for tool in tools)
    told = {"purpose": purpose, "tools": style.describe(tools), "examples": examples}
    return PROMPTS[name].substitute(told)
