"""The parameters of an effect: checked when they are given, and read back from plain data."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol, SupportsIndex, TypeVar


class Described(Protocol):
    """Any dataclass."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]


Parameters = TypeVar("Parameters", bound=Described)
Rung = TypeVar("Rung")

STRONGEST = 7
"""Intensities: 0 is off, 1 to 5 the usual range, 6 and 7 lie beyond it."""


def rung(intensity: SupportsIndex, ladder: Sequence[Rung]) -> Rung:
    """Return what stands on a ladder of eight rungs at an intensity.

    Raises:
        TypeError: the intensity is not a whole number.
        ValueError: it is not on the ladder.
    """
    try:
        place = operator.index(intensity)
    except TypeError:
        raise TypeError(f"intensity is {intensity!r}; give a whole number from 0 (off) to {STRONGEST}") from None
    if not 0 <= place <= STRONGEST:
        raise ValueError(
            f"intensity is {intensity!r}; choose 0 (off) to {STRONGEST}, of which 1 to 5 are the usual range"
        )
    return ladder[place]


def within(owner: object, low: float, high: float, *names: str) -> None:
    """Check that the named fields lie in a range, ends included.

    Raises:
        ValueError: one does not, or is not a number.
    """
    for name in names:
        value = getattr(owner, name)
        if not low <= value <= high:
            raise ValueError(f"{type(owner).__name__}.{name} is {value!r}; give a number from {low:g} to {high:g}")


def given(kind: type[Parameters], value: Parameters | Mapping[str, Any]) -> Parameters:
    """Return parameters that were given as such, or as the plain data that an environment's spec holds.

    Raises:
        TypeError: it is neither, or a name in it is unknown.
    """
    if isinstance(value, kind):
        return value
    if not isinstance(value, Mapping):
        raise TypeError(f"got {value!r}; give {kind.__name__}(...), or {kind.__name__}.at(intensity)")
    names = [field.name for field in dataclasses.fields(kind)]
    unknown = sorted(set(value) - set(names))
    if unknown:
        raise TypeError(f"{kind.__name__} has no {', '.join(unknown)}; it has {', '.join(names)}")
    return kind(**value)
