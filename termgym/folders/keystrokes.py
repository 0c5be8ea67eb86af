"""Keystrokes: a ``solution.yaml`` of Terminal-Bench 1, as plans.

Its commands are sent to tmux as keys. One that ends with Enter starts a plan; text without Enter, and what follows up
to the next Enter, is typed at the program that the plan started: one answer of the plan's dialogue.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from termgym.folders.reading import Line, checked
from termgym.folders.schema import Table
from termgym.folders.source import Source
from termgym.folders.yaml import read_yaml
from termgym.plan import TIMEOUT_LIMIT, ActionPlan, Exchange
from termgym.session.keys import NAMED

QUICK = 10.0
"""Least time that a plan gets for a command which tmux would not have waited for [s]."""
_OTHER_NAMES = {"Escape": "Esc", "BSpace": "Backspace", "DC": "Delete", "IC": "Insert", "PPage": "PageUp"} | {
    "NPage": "PageDown",
    "C-m": "Enter",
    "KPEnter": "Enter",
}
"""tmux's names of keys (tmux(1), KEY BINDINGS) that the house calls otherwise."""


class Command(Table):
    """One entry of ``solution.yaml``."""

    command: str
    min_timeout_sec: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    max_timeout_sec: Annotated[float, Field(gt=0)] = 180.0
    block: bool = False
    append_enter: bool = True


def read_commands(source: Source) -> tuple[ActionPlan, ...]:
    """Return the plans that type what a ``solution.yaml`` types.

    Raises:
        FolderError: it is no list of commands.
    """
    data, line = read_yaml(source)
    if not isinstance(data, list) or not data:
        raise source.fault("is no list of commands; write `- command: …` lines")
    commands = [checked(Command, each, source, _below(line, index)) for index, each in enumerate(data)]
    plans: list[ActionPlan] = []
    typed = ""
    for each in commands:
        if plans and (typed or not each.append_enter):
            typed += _key(each.command) + ("\r" if each.append_enter else "")
            if each.append_enter:
                plans[-1], typed = _answered(plans[-1], typed, each.min_timeout_sec), ""
        else:
            plans.append(_plan(each))
    if typed:
        plans[-1] = _answered(plans[-1], typed, 0.0)
    return tuple(plans)


def _below(line: Line, index: int) -> Line:
    return lambda name: line((index, *name))


def _plan(command: Command) -> ActionPlan:
    limit = command.max_timeout_sec if command.block else max(command.min_timeout_sec, QUICK)
    return ActionPlan(command=command.command, timeout=min(limit, TIMEOUT_LIMIT), expected_exit_code=None)


def _answered(plan: ActionPlan, typed: str, least: float) -> ActionPlan:
    """Return a plan that types one thing more, when the program waits next."""
    longer = min(max(plan.timeout, least + QUICK), TIMEOUT_LIMIT)
    dialogue = (*plan.dialogue, Exchange(expect="", send=typed))
    return plan.model_copy(update={"dialogue": dialogue, "timeout": longer})


def _key(text: str) -> str:
    """Return what tmux sends for the name of one key, or the text itself."""
    name = _OTHER_NAMES.get(text, text)
    if name in NAMED:
        return NAMED[name].decode()
    if len(name) == 3 and name.startswith("C-") and "@" <= name[2].upper() <= "_":
        return chr(ord(name[2].upper()) - 64)
    return text
