"""Families: how well each group of variants goes, for an average hides one that is lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

import numpy as np

from rolf.statistics import interval, mean
from rolf_adapters.ppo.families import told_as
from rolf_adapters.ppo.vector.collector import Episode
from rolf_adapters.ppo.vector.naming import object_of

Score = Callable[[str, float], float]
"""Says how good a return is in a variant, so that variants compare."""


def scorer(key: str, named: str) -> Score | None:
    """Return what ``module:object`` makes; None where nothing is named.

    Raises:
        ValueError: there is none, or what it makes is no function; names the key of the configuration.
    """
    if not named:
        return None
    found = object_of(key, named)
    if not callable(found):
        raise ValueError(f"{key} {named!r} makes {found!r:.80}; it must make a function of a variant and a return")
    return cast(Score, found)


def worth(score: Score | None) -> str:
    """Return what tells how well an episode went, besides success: its score, or where none is known its return."""
    return "return" if score is None else "score"


def of_families(
    episodes: Sequence[Episode], groups: Mapping[str, str], score: Score | None, *, greedy: bool
) -> dict[str, float]:
    """Return success, where it is told, and score or return of each group.

    Args:
        episodes: That have ended.
        groups: Of each variant.
        score: Of a return, where that is known.
        greedy: Whether the likeliest actions were taken; then with intervals, else as ``rollout/family/…``.
    """
    names, told = told_as(groups.values()), dict[str, float]()
    by_name: dict[str, list[Episode]] = {name: [] for name in names.values()}
    for each in episodes:
        if each.variant in groups:
            by_name[names[groups[each.variant]]].append(each)
    for name, found in by_name.items():
        clear = [each for each in found if not np.isnan(each.success)]
        values = [each.total if score is None else score(each.variant, each.total) for each in found]
        if greedy:
            told |= with_interval(f"family/{name}", [each.success for each in clear], clear, bounds=(0.0, 1.0))
            told |= with_interval(f"family/{name}_{worth(score)}", values, found)
        elif found:
            told |= {f"rollout/family/{name}": float(np.mean([each.success for each in clear]))} if clear else {}
            told |= {f"rollout/family/{name}_{worth(score)}": float(np.mean(values))}
    return told


def with_interval(
    name: str, values: Sequence[float], episodes: Sequence[Episode], *, bounds: tuple[float, float] | None = None
) -> dict[str, float]:
    """Return the mean of episodes with its interval of 95 % over variants, or over episodes where none is told.

    Nothing where there are no values; ends that are not known, as with one variant alone, are those of ``bounds``, or
    no number.
    """
    if not values:
        return {}
    variants = [each.variant or f"row {each.row}" for each in episodes]
    found = interval(mean, np.array(values, np.float64)[:, None], variants, bounds=bounds)
    low, high = bounds if bounds is not None else (float("nan"), float("nan"))
    return {
        name: found.estimate,
        f"{name}_low": low if found.low is None else found.low,
        f"{name}_high": high if found.high is None else found.high,
    }
