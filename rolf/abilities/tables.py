"""Tables: result rows as the arrays that statistics take, and figures of parts of the variants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rolf.evaluation.episode import Episode
from rolf.statistics import Interval, interval, mean
from rolf.statistics.intervals import Bounds
from rolf.variant import Labels

Value = Literal["score", "success", "episode_return"]
VALUES: tuple[Value, ...] = ("score", "success", "episode_return")
Key = Literal["family", "style", "cluster"]
KEYS: tuple[Key, ...] = ("family", "style", "cluster")
Floats = NDArray[np.float64]


def matrix(episodes: Sequence[Episode], *, value: Value, variants: int, attempts: int) -> Floats:
    """Return what episodes came to as a table (variants, attempts), NaN where the machine failed.

    Args:
        episodes: One of each attempt at each variant, in any order.
        value: ``score``, ``success`` or ``episode_return``.
        variants: Of the split.
        attempts: At each of them.

    Raises:
        ValueError: an episode is missing, is there twice or belongs to none of them.
    """
    if value not in VALUES:
        raise ValueError(f"value {value!r} is not known; allowed are {', '.join(VALUES)}")
    table = np.full((variants, attempts), np.nan)
    seen = np.zeros((variants, attempts), dtype=bool)
    for episode in episodes:
        place = episode.index, episode.attempt
        if not (0 <= episode.index < variants and 0 <= episode.attempt < attempts):
            raise ValueError(f"attempt {place[1]} at variant {place[0]} is none of {attempts} at {variants} variants")
        if seen[place]:
            raise ValueError(f"attempt {place[1]} at variant {place[0]} is there twice; give each episode once")
        seen[place] = True
        table[place] = _worth(episode, value)
    if not seen.all():
        missing = np.argwhere(~seen)
        first = f"attempt {missing[0][1]} at variant {missing[0][0]}"
        raise ValueError(f"{len(missing)} of {seen.size} episodes are missing, first {first}; give all of a split")
    return table


def _worth(episode: Episode, value: Value) -> float:
    """Return what one episode came to; NaN: the machine failed."""
    found = getattr(episode, value)
    return float("nan") if episode.fault or found is None else float(found)


class Table:
    """What the episodes of a split came to, with the labels of its variants."""

    def __init__(
        self, episodes: Sequence[Episode], labels: Sequence[Labels], value: Value, bounds: Bounds, **options: Any
    ) -> None:
        attempts = 1 + max((episode.attempt for episode in episodes), default=0)
        self.value = value
        self.labels = labels
        self.scores = matrix(episodes, value=value, variants=len(labels), attempts=attempts)
        self.counted = np.isfinite(self.scores).sum(1) > 0
        self.clusters = np.array([label.cluster for label in labels])
        self.bounds = (0.0, 1.0) if value == "success" else bounds
        self.options = options

    def interval(self, members: NDArray[np.bool_]) -> Interval | None:
        """Return the mean of some of the variants; None where no attempt at any of them counts."""
        kept = members & self.counted
        if not kept.any():
            return None
        return interval(mean, self.scores[kept], self.clusters[kept], bounds=self.bounds, **self.options)


def groups(
    episodes: Sequence[Episode],
    labels: Sequence[Labels],
    *,
    by: Key = "family",
    value: Value = "score",
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    bounds: Bounds = None,
) -> dict[str, Interval]:
    """Return the mean of each group of variants, in the order in which the split has them.

    Args:
        episodes: All of a split.
        labels: Of its variants.
        by: What variants of a group have in common: ``family``, ``style`` or ``cluster``.
        value: ``score``, ``success`` or ``episode_return``.
        level: How often intervals hold the truth.
        resamples: How many are drawn.
        seed: The same gives the same intervals.
        bounds: Least and greatest value that there can be, see `rolf.statistics.interval`; of ``success`` it is known.

    Returns:
        Name of the group -> its mean; groups of which no attempt counts are left out.

    Raises:
        ValueError: episodes are not those of the labels, or an option is not known.
    """
    if by not in KEYS:
        raise ValueError(f"by {by!r} is not known; allowed are {', '.join(KEYS)}")
    table = Table(episodes, labels, value, bounds, level=level, resamples=resamples, seed=seed)
    names = np.array([getattr(label, by) for label in labels])
    found = {name: table.interval(names == name) for name in dict.fromkeys(names.tolist())}
    return {name: one for name, one in found.items() if one is not None}
