"""Figures: what the statistics make of one submission's episodes, or of two, in the board's terms."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rolf import abilities, statistics
from rolf.evaluation.episode import Episode
from rolf.leaderboard.board import (
    Attribution,
    Chance,
    Comparison,
    Curve,
    Estimate,
    Group,
    Point,
    Profile,
    Robustness,
)
from rolf.variant import Labels, Split

THRESHOLDS = tuple(round(step / 50, 2) for step in range(51))
"""Of the profile."""
RATE = (0.0, 1.0)
"""What no success rate can leave."""
Table = NDArray[np.float64]


class Figures:
    """Computes what is known of one submission.

    Args:
        episodes: All of it.
        split: What was played.
        attempts: At each variant.
        bounds: Least and greatest score that there can be; None: nobody knows.
    """

    def __init__(
        self, episodes: Sequence[Episode], split: Split, attempts: int, bounds: tuple[float, float] | None = None
    ) -> None:
        self.bounds = bounds
        self._episodes = episodes
        self._labels: Sequence[Labels] = split.labels
        self._clusters = np.array([label.cluster for label in split.labels])
        matrix = partial(abilities.matrix, episodes, variants=len(split), attempts=attempts)
        self.scores: Table = matrix(value="score")
        self.successes: Table = matrix(value="success")
        self._returns: Table = matrix(value="episode_return")

    def score(self) -> Estimate:
        """Return the mean score."""
        return self._interval(statistics.mean, self.scores, bounds=self.bounds)

    def iqm(self) -> Estimate:
        """Return the mean of the middle half of the scores."""
        return self._interval(statistics.iqm, self.scores, bounds=self.bounds)

    def gap(self) -> Estimate:
        """Return how much is missing to 1, on average."""
        return self._interval(statistics.optimality_gap, self.scores, bounds=self.bounds)

    def success(self) -> Estimate:
        """Return the success rate."""
        return self._interval(statistics.mean, self.successes, bounds=RATE)

    def episode_return(self) -> Estimate:
        """Return the mean return."""
        return self._interval(statistics.mean, self._returns)

    def chances(self) -> tuple[Chance, ...]:
        """Return success in k attempts for each k."""
        return tuple(
            Chance(
                k,
                self._interval(partial(statistics.pass_at_k, k=k), self.successes, k, bounds=RATE),
                self._interval(partial(statistics.pass_hat_k, k=k), self.successes, k, bounds=RATE),
            )
            for k in range(1, self.successes.shape[1] + 1)
            if statistics.observed(self.successes, at_least=k).any()
        )

    def profile(self) -> Profile:
        """Return the share of runs above each score."""
        kept = statistics.observed(self.scores)
        band = statistics.profile_band(self.scores[kept], np.array(THRESHOLDS), self._clusters[kept])
        return Profile(THRESHOLDS, *(_plain(each) for each in (band.estimate, band.low, band.high)))

    def _interval(
        self,
        statistic: Callable[..., float],
        table: Table,
        at_least: int = 1,
        bounds: tuple[float, float] | None = None,
    ) -> Estimate:
        kept = statistics.observed(table, at_least=at_least)
        return estimate(statistics.interval(statistic, table[kept], self._clusters[kept], bounds=bounds))

    def families(self) -> tuple[Group, ...]:
        """Return the score of each family of variants."""
        return self._groups("family")

    def styles(self) -> tuple[Group, ...]:
        """Return the score of each style of the interface."""
        return self._groups("style")

    def _groups(self, by: Literal["family", "style"]) -> tuple[Group, ...]:
        score = abilities.groups(self._episodes, self._labels, by=by, value="score", bounds=self.bounds)
        success = abilities.groups(self._episodes, self._labels, by=by, value="success")
        return tuple(
            Group(name, estimate(score[name]), estimate(success[name]), score[name].variants)
            for name in sorted(score)
            if name
        )

    def robustness(self) -> tuple[Robustness | None, tuple[Curve, ...]]:
        """Return what is left under disturbance, and the curve of each family; nothing where no level is known."""
        if all(label.level is None for label in self._labels):
            return None, ()
        score = abilities.robustness(self._episodes, self._labels, value="score", bounds=self.bounds)
        success = abilities.robustness(self._episodes, self._labels, value="success")
        worst = score.worst
        curves = tuple(
            Curve(
                family,
                tuple(
                    Point(float(cell.level), estimate(cell.value), estimate(also.value), cell.variants)
                    for cell, also in zip(graded.cells, success.families[family].cells, strict=True)
                ),
            )
            for family, graded in score.families.items()
        )
        return Robustness(estimate(score.area), f"{worst.family} {worst.level}", estimate(worst.value)), curves

    def adaptivity(self) -> tuple[Curve, ...]:
        """Return a curve for each physical parameter."""
        curves = []
        for parameter in abilities.parameters(self._labels):
            score = abilities.adaptivity(self._episodes, self._labels, parameter, value="score", bounds=self.bounds)
            success = abilities.adaptivity(self._episodes, self._labels, parameter, value="success")
            points = zip(score.points, success.points, strict=True)
            curves.append(
                Curve(
                    parameter,
                    tuple(Point(at.at, estimate(at.value), estimate(also.value), at.variants) for at, also in points),
                )
            )
        return tuple(curves)

    def attribution(self) -> Attribution | None:
        """Return what failures come from; None: nobody asked, and the policy said nothing."""
        found = abilities.attribution(self._episodes)
        if not found.examined and not found.claims:
            return None
        unexplained = None if math.isnan(found.unexplained) else found.unexplained
        return Attribution(
            found.failures, found.examined, dict(found.shares), unexplained, found.precision, found.claims
        )


def compare(
    first: tuple[str, Figures], second: tuple[str, Figures], clusters: Sequence[str], only: Sequence[bool] | None = None
) -> Comparison:
    """Compare two submissions on the variants that both were played on.

    Args:
        first: Name and figures.
        second: Of another submission to the same split.
        clusters: Of the variants.
        only: Which variants to look at; None: all.

    Raises:
        ValueError: there is none that both were played on.
    """
    (name, one), (other, two) = first, second
    kept = statistics.observed(one.scores) & statistics.observed(two.scores)
    if only is not None:
        kept &= np.array(only)
    labels = np.array(clusters)[kept]
    pair: tuple[Any, Any] = one.scores[kept], two.scores[kept]
    difference = statistics.paired_difference(*pair, labels, bounds=one.bounds)
    success = statistics.paired_difference(one.successes[kept], two.successes[kept], labels, bounds=RATE)
    improvement = statistics.improvement_interval(*pair, labels)
    return Comparison(
        name,
        other,
        estimate(difference),
        estimate(success),
        estimate(improvement),
        difference.detectable,
        difference.p_value,
        difference.clusters,
    )


def together(found: Sequence[Comparison]) -> list[Comparison]:
    """Return comparisons with the p-values that hold for all of them at once, by Holm's procedure."""
    raised = statistics.holm([each.p_value for each in found])
    return [replace(each, p_value=float(value)) for each, value in zip(found, raised, strict=True)]


def estimate(found: statistics.Interval | statistics.Difference) -> Estimate:
    """Return an interval in the board's terms."""
    return Estimate(found.estimate, found.low, found.high)


def _plain(values: Any) -> tuple[float, ...]:
    return tuple(float(value) for value in values)
