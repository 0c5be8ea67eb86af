"""Adaptivity: what becomes of a policy while a physical parameter grows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np

from rolf.abilities.tables import Floats, Table, Value
from rolf.evaluation.episode import Episode
from rolf.statistics import Interval
from rolf.statistics.intervals import Bounds
from rolf.variant import Labels

MOST = 12
"""Points of a curve; where a parameter takes more values, neighbours are taken together."""


@dataclass(frozen=True, slots=True)
class Point:
    """One place of a curve."""

    at: float
    """What the parameter is there; the mean over variants where neighbours were taken together."""
    value: Interval
    variants: int


@dataclass(frozen=True, slots=True)
class Reading:
    """What a curve tells of a place."""

    at: float
    estimate: float
    low: float | None
    """Between two points both ends are interpolated, which is wider than it must be."""
    high: float | None
    extrapolated: bool
    """Nothing was measured as far out; what is told is the nearest point's."""

    def __str__(self) -> str:
        ends = "of one cluster alone" if self.low is None or self.high is None else f"{self.low:.3f}, {self.high:.3f}"
        return f"{self.estimate:.3f} [{ends}]" + (" (extrapolated)" if self.extrapolated else "")


@dataclass(frozen=True, slots=True)
class Adaptivity:
    """What becomes of a policy while one physical parameter grows."""

    parameter: str
    """With its unit."""
    points: tuple[Point, ...]
    """From the least to the greatest."""

    def at(self, place: float) -> Reading:
        """Return what the curve tells of a place: between two points on the straight line from one to the other.

        Raises:
            ValueError: it is no number.
        """
        if not isfinite(place):
            raise ValueError(f"place {place!r} is no number; give a value of {self.parameter}")
        places = [point.at for point in self.points]
        outside = not places[0] <= place <= places[-1]
        inside = min(max(place, places[0]), places[-1])
        right = int(np.searchsorted(places, inside))
        left = right if places[right] == inside else right - 1
        before, after = self.points[left], self.points[right]
        share = 0.0 if left == right else (inside - before.at) / (after.at - before.at)
        return Reading(
            place,
            before.value.estimate + share * (after.value.estimate - before.value.estimate),
            _between(before.value.low, after.value.low, share),
            _between(before.value.high, after.value.high, share),
            outside,
        )


def parameters(labels: Sequence[Labels]) -> tuple[str, ...]:
    """Return the physical parameters that take more than one value over the variants, in the order of the labels."""
    values: dict[str, set[float]] = {}
    for label in labels:
        for name, value in label.parameters.items():
            values.setdefault(name, set()).add(value)
    return tuple(name for name, found in values.items() if len(found) > 1)


def adaptivity(
    episodes: Sequence[Episode],
    labels: Sequence[Labels],
    parameter: str,
    *,
    value: Value = "success",
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    bounds: Bounds = None,
) -> Adaptivity:
    """Return what becomes of a policy while a physical parameter grows.

    Args:
        episodes: All of a split.
        labels: Of its variants; those without the parameter are left out.
        parameter: Name with unit, one of `parameters`.
        value: ``success``, ``score`` or ``episode_return``.
        level: How often intervals hold the truth.
        resamples: How many are drawn.
        seed: The same gives the same intervals.
        bounds: Least and greatest value that there can be, see `rolf.statistics.interval`; of ``success`` it is known.

    Raises:
        ValueError: no variant has the parameter, no attempt counts, or episodes are not those of the labels.
    """
    table = Table(episodes, labels, value, bounds, level=level, resamples=resamples, seed=seed)
    places = np.array([label.parameters.get(parameter, np.nan) for label in labels], dtype=np.float64)
    known = np.isfinite(places) & table.counted
    if not known.any():
        names = ", ".join(dict.fromkeys(name for label in labels for name in label.parameters)) or "none"
        raise ValueError(f"no variant with an attempt that counts has the parameter {parameter!r}; known are {names}")
    points = []
    for first, last in _bins(places[known]):
        members = known & (places >= first) & (places <= last)
        found = table.interval(members)
        assert found is not None, "its variants have attempts that count"
        points.append(Point(float(places[members].mean()) if first < last else first, found, int(members.sum())))
    return Adaptivity(parameter, tuple(points))


def _bins(places: Floats) -> list[tuple[float, float]]:
    """Return the least and the greatest value of each point: every value its own, or as many variants in each."""
    values = np.unique(places)
    if len(values) <= MOST:
        return [(float(value), float(value)) for value in values]
    ranks = np.searchsorted(np.sort(places), values)
    share = np.minimum(ranks * MOST // len(places), MOST - 1)
    return [(float(values[share == one].min()), float(values[share == one].max())) for one in np.unique(share)]


def _between(left: float | None, right: float | None, share: float) -> float | None:
    """Return what lies between; None where a side is not known."""
    return None if left is None or right is None else left + share * (right - left)
