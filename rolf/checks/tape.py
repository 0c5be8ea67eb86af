"""Tape: all that an environment answered, and where two tapes part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from rolf.checks.errors import Place
from rolf.difference import Difference, difference


class Answer(NamedTuple):
    """What one call came to, as plain data that nobody can change afterwards."""

    episode: int
    step: int
    """As in `Place`."""
    values: dict[str, Any]
    """What was returned, by name."""
    calls: int
    """Calls up to this one, itself included."""


class Parting(NamedTuple):
    """The first difference between two tapes."""

    left: Answer
    right: Answer
    name: str
    """Of the returned values, the one that differs."""
    found: Difference

    @property
    def place(self) -> Place:
        """Where it is on the left."""
        return Place(self.left.episode, self.left.step, self.found.field)


def parting(left: Sequence[Answer], right: Sequence[Answer], volatile: Sequence[str]) -> Parting | None:
    """Return the first difference between two tapes, as far as both go, but for what may differ."""
    for one, other in zip(left, right, strict=False):
        for name in one.values:
            found = difference(name, one.values[name], other.values[name], volatile)
            if found is not None:
                return Parting(one, other, name, found)
    return None
