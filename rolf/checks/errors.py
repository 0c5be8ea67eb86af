"""What a check raises.

::

    AssertionError
    └── CheckFailed        the environment breaks what the check asks of it
    ValueError
    └── NotApplicable      the check has nothing to say of this environment, for the reason given
"""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import indent
from typing import NamedTuple


class Place(NamedTuple):
    """Where in what was played."""

    episode: int
    """From 0."""
    step: int
    """Steps taken in the episode before; -1 at its reset."""
    field: str = ""
    """What differs: ``observation.stdout``, ``info.checks[0].passed``; empty: the call as a whole."""

    def __str__(self) -> str:
        call = "reset" if self.step < 0 else f"step {self.step}"
        return f"episode {self.episode}, {call}{': ' if self.field else ''}{self.field}"


class CheckFailed(AssertionError):
    """An environment breaks what a check asks of it.

    Args:
        check: Name of the check: ``check_seeding``.
        problem: What is wrong, and what to do about it.
        place: Where it first showed; None: in no step.
        values: What was seen there, shortened, by what it is called.
        reproduction: A program that raises as long as the fault is there.
    """

    def __init__(
        self,
        check: str,
        problem: str,
        place: Place | None = None,
        values: Mapping[str, str] | None = None,
        reproduction: str = "",
    ) -> None:
        super().__init__(check, problem, place, values, reproduction)
        self.check = check
        self.problem = problem
        self.place = place
        self.values = dict(values or {})
        self.reproduction = reproduction

    def __str__(self) -> str:
        lines = [f"{self.check}: {self.problem}"]
        if self.place is not None:
            lines.append(f"  {self.place}")
        width = max((len(name) for name in self.values), default=0)
        lines += [f"    {name:{width}}  {value}" for name, value in self.values.items()]
        if self.reproduction:
            lines += ["  to see it again:", indent(self.reproduction.rstrip(), "    ")]
        return "\n".join(lines)


class NotApplicable(ValueError):
    """A check has nothing to say of this environment; the message says why, and what would change that."""
