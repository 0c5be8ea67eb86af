"""What can go wrong, as a tree.

LineGymError
├── ArgumentError (ValueError)         a call got a value that it cannot use; says what is allowed
├── PlantError (ValueError)            a line's description contradicts itself; names the field
├── PerturbationError (ValueError)     an intensity or a parameter is out of its range; names the field
├── VariantError (ValueError)          text names no variant or split; suggests the nearest
│   └── UnknownTemplate (LookupError)  no template of that name; suggests the nearest
└── DataError (RuntimeError)           a file that ships with the package is not the one that was published
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class LineGymError(Exception):
    """Any error that linegym raises on purpose."""


class ArgumentError(LineGymError, ValueError):
    """A call got a value that it cannot use."""


class PlantError(LineGymError, ValueError):
    """A line's description contradicts itself."""


class PerturbationError(LineGymError, ValueError):
    """An intensity or a parameter of a perturbation is out of its range."""


class VariantError(LineGymError, ValueError):
    """Text names no variant or split."""


class UnknownTemplate(VariantError, LookupError):
    """No template of that name."""


class DataError(LineGymError, RuntimeError):
    """A file that ships with the package is not the one that was published."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a question that offers what of ``known`` is nearest to ``name``, or nothing."""
    near = get_close_matches(name, list(known), n=3, cutoff=0.5)
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
