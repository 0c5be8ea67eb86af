"""Duel: two submissions to the same split, compared on all of it and family by family."""

from __future__ import annotations

from rolf.leaderboard.board import Comparison
from rolf.leaderboard.figures import compare, together
from rolf.leaderboard.ranking import contender
from rolf.leaderboard.validation import Validation

WHOLE = "all"


def duel(first: Validation, second: Validation) -> dict[str, Comparison]:
    """Return comparisons by the part of the split: ``all``, then each family where there are several.

    The p-values of families hold for all families at once.

    Raises:
        ValueError: they are to different splits.
    """
    one, two = (contender(looked, looked.folder.name) for looked in (first, second))
    if one.split.digest != two.split.digest:
        raise ValueError(
            f"{one.name} was played on {one.split.name} and {two.name} on {two.split.name}; only submissions to the "
            "same split can be compared"
        )
    labels = one.split.labels
    clusters = [label.cluster for label in labels]
    pair = (one.name, one.figures), (two.name, two.figures)
    found = {WHOLE: compare(*pair, clusters)}
    families = sorted({label.family for label in labels} - {""})
    if len(families) > 1:
        parts = [compare(*pair, clusters, [label.family == family for label in labels]) for family in families]
        found |= dict(zip(families, together(parts), strict=True))
    return found
