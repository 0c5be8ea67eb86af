"""Which family of perturbations an episode went wrong by.

Every mechanism of a line draws from a stream of its own, so a family can be taken away while all else happens as it
did (``Variant.without``). With three families there are eight such runs, all under the same random numbers: their
differences are what the families did, exactly and not an estimate. The share of each is its Shapley value (Shapley,
"A value for n-person games", 1953): what it adds, averaged over the orders in which families can be added. What two
or three do only together are the interactions: Harsanyi's dividends (1963). Several seeds give the confidence.

    >>> from linegym import attribution
    >>> from linegym.variants import variant
    >>> found = attribution.explain("cusum", variant("serial/rtd/profinet/bearing+sensor:3+load:4"), seed=0)
    >>> print(str(found).splitlines()[0])
    cusum on serial/rtd/profinet/bearing+sensor:3+load:4, one seed
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import factorial, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linegym.errors import ArgumentError
from linegym.play import Played, play
from linegym.policies import Policy, policy
from linegym.variants import FAMILIES, Variant

MEASURES = ("returns", "success", "repaired")
"""What is explained: the return, whether the episode succeeded, the share of its faults repaired in time."""
Coalition = frozenset[str]
"""Families that are active."""

COALITIONS: tuple[Coalition, ...] = tuple(
    frozenset(names) for names in chain.from_iterable(combinations(FAMILIES, size) for size in range(len(FAMILIES) + 1))
)
"""All eight, from none to all, each after those that it contains."""
ERRORS = 2.0
"""Half the width of an interval, in standard errors: about 95 %."""


class Effect(NamedTuple):
    """What something did to a measure, mean over seeds."""

    mean: float
    error: float
    """standard error of the mean; nan with one seed"""

    @property
    def certain(self) -> bool:
        """Whether zero lies outside the interval of two standard errors; False with one seed."""
        return abs(self.mean) > ERRORS * self.error

    def __str__(self) -> str:
        if np.isnan(self.error):
            return f"{self.mean:+.3f}"
        return f"{self.mean:+.3f} ± {ERRORS * self.error:.3f}"


@dataclass(frozen=True)
class Explanation:
    """What the families did to one measure of a policy's episodes."""

    measure: str
    without: Effect
    """what is reached with every family at its nuisance level"""
    reached: Effect
    """what is reached under all of them"""
    families: dict[str, Effect]
    """Shapley values: they add up to the difference of the two"""
    interactions: dict[Coalition, Effect]
    """what two or three families do beyond what the smaller ones in them do"""

    def main(self) -> str:
        """Return the family that did most harm, or ``"none"`` where none did any."""
        worst = min(self.families, key=lambda family: self.families[family].mean)
        return worst if self.families[worst].mean < 0 else "none"


@dataclass(frozen=True)
class Attribution:
    """Why the episodes of a policy on a variant went as they did."""

    policy: str
    variant: Variant
    seeds: tuple[int, ...]
    values: dict[str, NDArray[np.float64]]
    """measure -> (seeds, 8) what was reached in each run, in the order of ``COALITIONS``"""

    def of(self, measure: str) -> Explanation:
        """Explain one measure.

        Raises:
            ArgumentError: it is not measured.
        """
        if measure not in self.values:
            raise ArgumentError(f"measure {measure!r} is not known; allowed are {', '.join(MEASURES)}")
        runs = self.values[measure]
        return Explanation(
            measure,
            _effect(runs[:, 0]),
            _effect(runs[:, -1]),
            {family: _effect(shapley(runs, family)) for family in FAMILIES},
            {group: _effect(dividend(runs, group)) for group in COALITIONS if len(group) > 1},
        )

    def __str__(self) -> str:
        lines = [f"{self.policy} on {self.variant.id}, {_counted(len(self.seeds))}"]
        for measure in self.values:
            found = self.of(measure)
            lines.append(f"  {measure}: {found.without.mean:.3f} undisturbed, {found.reached.mean:.3f} as it was")
            lines += [f"    {family:<12}{effect}" for family, effect in found.families.items()]
            lines += [
                f"    {' with '.join(sorted(group, key=FAMILIES.index))}: {effect} together"
                for group, effect in found.interactions.items()
                if effect.mean != 0
            ]
            lines.append(f"    most harm: {found.main()}")
        return "\n".join(lines)


def explain(
    player: str | Policy,
    variant: Variant,
    seed: int | Sequence[int] = 0,
    episode: int = 0,
    *,
    evaluation: bool = True,
) -> Attribution:
    """Play an episode eight times, each time with other families present, and say what each did.

    Args:
        player: The policy, or the name of one that comes with the line.
        variant: What is played.
        seed: Of the episode; several give confidence intervals.
        episode: Its number under the seed.
        evaluation: Draw from the evaluation namespace of the seeds.

    Raises:
        ArgumentError: there is no such policy, or no seed.
    """
    seeds = (seed,) if isinstance(seed, int) else tuple(seed)
    if not seeds:
        raise ArgumentError("seed is empty; give one whole number, or several")
    chosen = policy(player) if isinstance(player, str) else player
    runs = [variant.without(*(family for family in FAMILIES if family not in active)) for active in COALITIONS]
    rows = [run for _ in seeds for run in runs]
    drawn = np.repeat(np.array(seeds, np.uint64), len(runs))
    played = play(chosen, rows, drawn, episode=episode, evaluation=evaluation)
    return Attribution(chosen.name, variant, seeds, _values(played, len(seeds)))


def shapley(runs: NDArray[np.float64], family: str) -> NDArray[np.float64]:
    """Return a family's Shapley value in each line of ``runs``: (seeds, 8) -> (seeds,)."""
    total = np.zeros(len(runs))
    count = len(FAMILIES)
    for place, group in enumerate(COALITIONS):
        if family not in group:
            weight = factorial(len(group)) * factorial(count - len(group) - 1) / factorial(count)
            total += weight * (runs[:, COALITIONS.index(group | {family})] - runs[:, place])
    return total


def dividend(runs: NDArray[np.float64], group: Coalition) -> NDArray[np.float64]:
    """Return what a group of families does beyond the groups within it: (seeds, 8) -> (seeds,)."""
    return _beyond(runs, sorted(group, key=FAMILIES.index), frozenset())


def _beyond(runs: NDArray[np.float64], group: list[str], beside: Coalition) -> NDArray[np.float64]:
    """Return the dividend of a group beside others: differences of differences, so that equal runs leave exactly 0."""
    if not group:
        reached: NDArray[np.float64] = runs[:, COALITIONS.index(beside)]
        return reached
    family, *others = group
    return _beyond(runs, others, beside | {family}) - _beyond(runs, others, beside)


def _values(played: Played, seeds: int) -> dict[str, NDArray[np.float64]]:
    """Return each measure of all runs: (seeds, 8). An episode without faults has all of them repaired."""
    due = np.maximum(played.faults_due, 1)
    repaired = np.where(played.faults_due > 0, played.closed_due / due, 1.0)
    measured = {"returns": played.returns, "success": played.success.astype(np.float64), "repaired": repaired}
    return {name: measured[name].reshape(seeds, len(COALITIONS)) for name in MEASURES}


def _effect(values: NDArray[np.float64]) -> Effect:
    """Return mean and standard error over seeds."""
    count = len(values)
    error = float(values.std(ddof=1)) / sqrt(count) if count > 1 else float("nan")
    return Effect(float(values.mean()), error)


def _counted(seeds: int) -> str:
    return "one seed" if seeds == 1 else f"{seeds} seeds"
