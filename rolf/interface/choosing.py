"""Choosing: names of styles, prompts, layouts and the like, one by one or a set at a time."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from difflib import get_close_matches


def known(kind: str, name: str, names: Collection[str]) -> None:
    """Refuse a name that is none.

    Raises:
        LookupError: it is none; the message suggests the nearest.
    """
    if name not in names:
        near = get_close_matches(str(name), names, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise LookupError(f"no {kind} is named {name!r}; {hint}they are {', '.join(names)}")


def chosen(kind: str, given: str | Sequence[str], training: Sequence[str], held_out: Sequence[str]) -> tuple[str, ...]:
    """Return the names that are meant: by ``"training"``, by ``"held-out"``, or by a list of them.

    Raises:
        LookupError: a name is none.
        ValueError: no name is given, or text that is neither set.
    """
    sets = {"training": tuple(training), "held-out": tuple(held_out)}
    named = sets.get(given, ()) if isinstance(given, str) else tuple(given)
    if not named:
        meant = " or ".join(repr(name) for name, members in sets.items() if members)
        names = ", ".join((*training, *held_out))
        raise ValueError(f"{kind}={given!r}; give {meant}, or a list of {names}")
    for name in named:
        known(kind, name, (*training, *held_out))
    return named
