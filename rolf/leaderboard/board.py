"""Board: all that a leaderboard shows, as plain data; the table, the JSON file and the page are made of nothing else.

A board has one part a split, for nobody is compared who was not played on the same. Every figure is an `Estimate`: the
number and the interval that it may lie in for new variants of the same kind.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

ENOUGH = 10
"""Clusters from which on intervals and places can be relied on; docs/explanation/statistics.md has the simulations."""
CHANCE = 0.05
"""p-value below which two policies are told apart."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure, and where it may lie."""

    value: float
    low: float | None
    """Lower end of the 95 % interval; None: too few variants to tell."""
    high: float | None


@dataclass(frozen=True, slots=True)
class Profile:
    """Share of runs whose score is above each threshold; one place of all four belongs together."""

    thresholds: tuple[float, ...]
    values: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Point:
    """One place of a curve."""

    at: float
    """Where it lies on the axis."""
    score: Estimate
    success: Estimate
    variants: int
    """How many it was measured on."""


@dataclass(frozen=True, slots=True)
class Curve:
    """What becomes of a policy while one thing grows."""

    name: str
    """A family (``sensor``), whose axis is its level; or a physical parameter with its unit, whose axis is that."""
    points: tuple[Point, ...]
    """From left to right."""


@dataclass(frozen=True, slots=True)
class Group:
    """A part of the variants: those of one family, or those played through one style of interface."""

    name: str
    score: Estimate
    success: Estimate
    variants: int


@dataclass(frozen=True, slots=True)
class Robustness:
    """How much is left under disturbance."""

    area: Estimate
    """Area under the score over levels, the axis scaled to 1, mean over families."""
    worst: str
    """The cell with the lowest score: ``sensor 5``."""
    worst_score: Estimate


@dataclass(frozen=True, slots=True)
class Attribution:
    """What failures come from, and whether the policy knew."""

    failures: int
    examined: int
    """Failures that were played again without each family (``rolf eval --attribute``)."""
    shares: Mapping[str, float]
    """Family -> share of what the examined failures lost."""
    unexplained: float | None
    """Share that no family explains; None: none was examined."""
    precision: float | None
    """Share of the policy's own claims of a fault that were right; None: it made none."""
    claims: int


@dataclass(frozen=True, slots=True)
class Chance:
    """Success in several attempts at one variant."""

    attempts: int
    """k"""
    any: Estimate
    """pass@k: at least one of k attempts succeeds."""
    all: Estimate
    """pass^k: all of k attempts succeed."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One policy against another, on the same variants."""

    first: str
    """Name of the submission; what is told is of it, less the second."""
    second: str
    difference: Estimate
    """Of the scores, paired by variant."""
    success: Estimate
    """Difference of the success rates, paired by variant."""
    improvement: Estimate
    """Probability that the first is better on a variant; a tie counts half."""
    detectable: float | None
    """Smallest difference of scores that a comparison of this size finds four times out of five; None: too few."""
    p_value: float
    """Of the paired test that flips the signs of whole clusters, raised by Holm's procedure for the whole lot."""
    clusters: int
    """What the interval was resampled over, and the signs of which were flipped."""

    @property
    def tied(self) -> bool:
        """Whether they may as well be equal: the interval holds zero, or the test finds that chance may do as much."""
        low, high = self.difference.low, self.difference.high
        return low is None or high is None or low <= 0.0 <= high or self.p_value >= CHANCE


@dataclass(frozen=True, slots=True)
class Sample:
    """One episode to look at; chosen by its digest, so that nobody picks the pretty ones."""

    trajectory: str
    """As in the result row: a file in the submission's ``trajectories``, ``#N`` its line where it holds several."""
    index: int
    """Of the variant in the split."""
    variant: str
    attempt: int
    family: str
    level: int | None
    style: str
    success: bool
    score: float
    episode_return: float
    steps: int


@dataclass(frozen=True, slots=True)
class Verified:
    """Who has done it again, and how much of it."""

    by: str
    how: str
    """``replayed``: all recorded actions gave the same; ``evaluated``: the policy itself did it again as well."""
    episodes: int
    """How many were replayed."""
    evaluated: int
    """How many the policy itself played again."""
    version: str
    """Of rolf."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One submission on the board of its split."""

    name: str
    """Name of its folder, relative to the board's folder."""
    digest: str
    """SHA-256 of all that it holds."""
    policy: Mapping[str, Any]
    """As in submission.json: name, spec, args, description, authors, url, privileged, deterministic."""
    rank: tuple[int, int] | None
    """First and last place that it may have; None: a reference, which is told the truth."""
    verified: Verified | None
    episodes: int
    attempts: int
    faults: int
    """Episodes in which the machine failed; no part of any figure."""
    malformed: float
    """Share of all steps whose answer was no valid call: of 1 nothing is known but that it was not understood."""
    seconds: float
    """Time that all of it took [s]."""
    score: Estimate
    """Mean over variants; what is ranked by."""
    iqm: Estimate
    """Mean of the middle half of the scores."""
    gap: Estimate
    """Optimality gap: how much is missing to 1, on average."""
    success: Estimate
    episode_return: Estimate
    chances: tuple[Chance, ...]
    """For k = 1 up to the number of attempts."""
    profile: Profile
    robustness: Robustness | None
    """None: the split is not graded."""
    leader: Comparison | None
    """The best against it; None: it is the best, or a reference."""
    families: tuple[Group, ...]
    levels: tuple[Curve, ...]
    """One a family that is graded."""
    adaptivity: tuple[Curve, ...]
    """One a physical parameter."""
    styles: tuple[Group, ...]
    attribution: Attribution | None
    samples: tuple[Sample, ...]
    """Failures and successes over the families, those first that are worth the most room."""


@dataclass(frozen=True, slots=True)
class SplitBoard:
    """All submissions to one split."""

    split: str
    digest: str
    variants: int
    clusters: int
    """What intervals are resampled over: variants of one cluster resemble each other."""
    attempts: int
    limits: Mapping[str, Any]
    entries: tuple[Entry, ...]
    """Contestants by rank, then references by score."""
    comparisons: tuple[Comparison, ...]
    """Of every two entries, the one that stands higher first."""

    @property
    def caution(self) -> str:
        """What to say of a split with few clusters; empty: it has enough."""
        return caution(self.clusters)


@dataclass(frozen=True, slots=True)
class Refused:
    """A submission that is on no board."""

    name: str
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Board:
    """What a folder of submissions comes to."""

    splits: tuple[SplitBoard, ...] = ()
    refused: tuple[Refused, ...] = ()
    format: Literal["rolf-board/1"] = "rolf-board/1"

    def as_json(self) -> dict[str, Any]:
        """Return all of it as plain data; the schema is ``rolf/leaderboard/schemas/board.json``."""
        return dataclasses.asdict(self)


def caution(clusters: int) -> str:
    """Return what to say of figures over so few clusters; empty: they are enough."""
    if clusters >= ENOUGH:
        return ""
    return f"Fewer than {ENOUGH} clusters ({clusters}): intervals and places are not to be relied on."
