"""Families: under which names kinds of episodes are told, for an average hides one that is lost."""

from __future__ import annotations

from collections.abc import Iterable

FAMILIES, OTHERS = 30, "others"
"""Most that are told apart, and what those are told together as that come after them by name: a suite may have
thousands, and a curve of each is one of none."""


def told_as(families: Iterable[str]) -> dict[str, str]:
    """Return what each family is told as, in the order of their names."""
    found = sorted(set(families))
    kept = found if len(found) <= FAMILIES else found[: FAMILIES - 1]
    return {name: name if place < len(kept) else OTHERS for place, name in enumerate(found)}
