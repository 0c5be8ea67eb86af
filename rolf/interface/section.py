"""Section: one thing that a policy is told after a step, before it takes the shape of any layout."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Role(Enum):
    """What a layout may treat apart."""

    OUTPUT = "output"
    """Text of any length, verbatim: what a command wrote."""
    PLACE = "place"
    """Where the next command will run."""
    FIGURE = "figure"
    """A number or a word."""


@dataclass(frozen=True, slots=True)
class Section:
    """A name and what stands under it."""

    name: str
    """A word of lower-case letters and underscores."""
    value: str | int | float | bool | None
    role: Role = Role.FIGURE
