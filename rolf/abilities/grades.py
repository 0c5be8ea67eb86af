"""Robustness: what is left of a policy's score over all intensities of disturbance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from rolf.abilities.tables import Floats, Table, Value
from rolf.evaluation.episode import Episode
from rolf.statistics import Interval
from rolf.statistics.intervals import Bounds, Plan
from rolf.statistics.kernels import row_means
from rolf.statistics.scores import Counts, grouped
from rolf.variant import Labels

Members = Mapping[str, Mapping[int, NDArray[np.bool_]]]
"""Which variants are in each cell: family -> level -> (variants,)."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One family at one intensity."""

    family: str
    level: int
    value: Interval
    variants: int


@dataclass(frozen=True, slots=True)
class Graded:
    """One family over its intensities."""

    cells: tuple[Cell, ...]
    """From the weakest to the strongest."""
    area: Interval
    """Under the curve through them, the axis from the first to the last scaled to 1."""


@dataclass(frozen=True, slots=True)
class Robustness:
    """What is left under disturbance."""

    families: Mapping[str, Graded]
    area: Interval
    """Mean over the families."""
    worst: Cell
    """Where the mean is lowest; by chance alone the lowest of many lies below what it truly is."""


def robustness(
    episodes: Sequence[Episode],
    labels: Sequence[Labels],
    *,
    value: Value = "score",
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    bounds: Bounds = None,
) -> Robustness:
    """Return what is left of a policy over all intensities of each family of disturbances.

    Variants of level 0 are disturbed by nothing and begin the curve of every family.

    Args:
        episodes: All of a split.
        labels: Of its variants; those without a level are left out.
        value: ``score``, ``success`` or ``episode_return``.
        level: How often intervals hold the truth.
        resamples: How many are drawn.
        seed: The same gives the same intervals.
        bounds: Least and greatest value that there can be, see `rolf.statistics.interval`; of ``success`` it is known.

    Raises:
        ValueError: no variant with an attempt that counts has a level, or episodes are not those of the labels.
    """
    table = Table(episodes, labels, value, bounds, level=level, resamples=resamples, seed=seed)
    members = _members(table)
    if not members:
        raise ValueError("no variant with an attempt that counts has a level; robustness takes Labels.level")
    families = {}
    for family, some in members.items():
        cells = []
        for grade, which in some.items():
            found = table.interval(which)
            assert found is not None, "its variants have attempts that count"
            cells.append(Cell(family, grade, found, int(which.sum())))
        families[family] = Graded(tuple(cells), _area(table, {family: some}))
    every = [cell for graded in families.values() for cell in graded.cells]
    return Robustness(families, _area(table, members), min(every, key=lambda cell: cell.value.estimate))


def _area(table: Table, members: Members) -> Interval:
    """Return the area under the curves of families, mean over them; clusters are drawn over all cells at once."""
    kept = np.any([which for some in members.values() for which in some.values()], axis=0)
    inside = {family: {grade: which[kept] for grade, which in some.items()} for family, some in members.items()}
    scores, owner = table.scores[kept], grouped(table.clusters[kept], int(kept.sum()))
    compute = partial(_areas, inside)
    estimate = compute(scores, np.ones((1, len(scores)), dtype=np.int64))[0]
    plan = Plan("cluster", **table.options)
    ends = plan.ends(compute, scores, owner, np.asarray(estimate))
    low, high = (None, None) if ends is None else (float(ends[0]), float(ends[1]))
    faults = int(np.isnan(scores).sum())
    return Interval(float(estimate), low, high, plan.level, plan.method, len(scores), int(owner.max()) + 1, faults)


def _areas(members: Members, scores: Floats, counts: Counts) -> Floats:
    """Compute the mean area of many resamples: (variants, attempts), (resamples, variants) -> (resamples,)."""
    values = row_means(scores)
    found = []
    for some in members.values():
        taken = [counts[:, which] for which in some.values()]
        sums = [(count * values[which]).sum(1) for count, which in zip(taken, some.values(), strict=True)]
        numbers = np.stack([count.sum(1) for count in taken], axis=1)
        means = np.where(numbers > 0, np.stack(sums, axis=1) / np.maximum(numbers, 1), np.nan)
        found.append(areas(means, list(some)))
    every = np.stack(found, axis=1)
    there = np.isfinite(every)
    mean: Floats = np.where(there, every, 0.0).sum(1) / there.sum(1)
    return mean


def _members(table: Table) -> Members:
    """Return which variants are in each cell that has some: family -> level -> (variants,)."""
    graded = [label.level is not None for label in table.labels]
    known = table.counted & np.array(graded)
    names = np.array([label.family for label in table.labels])
    levels = np.array([-1 if label.level is None else label.level for label in table.labels])
    disturbed = known & (levels > 0)
    own = disturbed if disturbed.any() else known
    found: dict[str, dict[int, NDArray[np.bool_]]] = {}
    for family in dict.fromkeys(names[own].tolist()):
        cells = {0: known & (levels == 0)} if disturbed.any() else {}
        cells |= {int(one): own & (names == family) & (levels == one) for one in np.unique(levels[own])}
        found[family] = {one: which for one, which in sorted(cells.items()) if which.any()}
    return found


def areas(means: Floats, levels: Sequence[int]) -> Floats:
    """Return areas under curves, their axes scaled to 1: (resamples, levels) -> (resamples,).

    A cell of which a resample has no variant is NaN; the curve goes past it. NaN: there is none at all.
    """
    axis = np.array(levels, dtype=np.float64)
    whole = np.isfinite(means).all(1)
    found = np.full(len(means), np.nan)
    found[whole] = _trapezoid(means[whole], axis)
    for row in np.flatnonzero(~whole):
        there = np.isfinite(means[row])
        if there.any():
            found[row] = _trapezoid(np.interp(axis, axis[there], means[row][there])[None], axis)[0]
    return found


def _trapezoid(means: Floats, axis: Floats) -> Floats:
    """Return areas by the trapezoidal rule; of a single level it is what is reached there."""
    if len(axis) == 1:
        return means[:, 0]
    steps = np.diff(axis) / (axis[-1] - axis[0])
    area: Floats = ((means[:, 1:] + means[:, :-1]) / 2.0 * steps).sum(1)
    return area
