"""What an environment shows of itself in ``rolf demo``: plain values, drawn alike on a terminal and on the page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Prose:
    """A paragraph."""

    text: str


@dataclass(frozen=True, slots=True)
class Figure:
    """One number that counts."""

    value: str
    """With its unit."""
    label: str
    note: str = ""
    """How it was measured."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Numbers beside each other."""

    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Words and numbers in rows."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """As long as the headings, each."""
    numbers: frozenset[int] = frozenset()
    """Columns that are set flush right."""


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a chart."""

    name: str
    points: tuple[tuple[float, float], ...]
    dotted: bool = False
    """Whether each point is marked."""


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines over a common axis."""

    title: str
    across: str
    """What the horizontal axis means, with its unit."""
    series: tuple[Series, ...]
    marks: tuple[tuple[float, str], ...] = ()
    """Moments on the horizontal axis, in order, each with a word."""
    least: float | None = None
    """Where the vertical axis begins at the latest; None: with the values."""
    most: float | None = None
    """Where it ends at the earliest."""


@dataclass(frozen=True, slots=True)
class Charts:
    """Charts beside each other."""

    charts: tuple[Chart, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """An image."""

    png: bytes
    caption: str


Block: TypeAlias = Prose | Figures | Table | Charts | Picture


@dataclass(frozen=True, slots=True)
class Section:
    """Something shown, under a title."""

    title: str
    blocks: tuple[Block, ...]


Progress: TypeAlias = Callable[[int, int], None]
"""Told how much is done, and how much there is, by what takes its time."""
