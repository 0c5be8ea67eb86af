"""Attribution: what failures come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rolf.evaluation.episode import Episode

CLAIMS, RIGHT = "claims", "claims_right"
"""Measures of a policy's own diagnoses, and of those that were right."""


@dataclass(frozen=True, slots=True)
class Attribution:
    """What failures come from."""

    failures: int
    """Episodes that failed; those in which the machine failed are none."""
    examined: int
    """Of them, those whose costs by family are known."""
    shares: Mapping[str, float]
    """Family -> share of the examined failures that it explains."""
    unexplained: float
    """Share of the examined failures that no family explains; with the others it adds up to 1. NaN: none examined."""
    precision: float | None
    """Share of the policy's own diagnoses that were right; None: it made none."""
    claims: int
    """Diagnoses that it made."""


def attribution(episodes: Sequence[Episode]) -> Attribution:
    """Return what failures come from.

    Every failure counts the same. A family explains as much of it as it cost, of all that the episode lost: what is
    missing to a score of 1, or the sum of all costs where that is more. What would have been lost without any
    disturbance is unexplained. A family that helped explains nothing.

    Args:
        episodes: With ``attribution`` where costs are known, and the measures ``claims`` and ``claims_right`` of
            policies that say what is wrong.
    """
    failures = [episode for episode in episodes if not episode.fault and episode.success is False]
    examined = [_shares(episode) for episode in failures if episode.attribution]
    names = sorted({name for shares in examined for name in shares})
    mean = {name: sum(shares.get(name, 0.0) for shares in examined) / len(examined) for name in names}
    counted = [episode.measures for episode in episodes if not episode.fault]
    claims = sum(measures.get(CLAIMS, 0.0) for measures in counted)
    right = sum(measures.get(RIGHT, 0.0) for measures in counted)
    return Attribution(
        failures=len(failures),
        examined=len(examined),
        shares=mean,
        unexplained=1.0 - sum(mean.values()) if examined else float("nan"),
        precision=right / claims if claims else None,
        claims=int(claims),
    )


def _shares(episode: Episode) -> dict[str, float]:
    """Return how much of what one failure lost each family cost."""
    costs = {name: max(cost, 0.0) for name, cost in episode.attribution.items()}
    missing = 0.0 if episode.score is None else 1.0 - episode.score
    lost = max(missing, sum(costs.values()))
    return {name: cost / lost if lost > 0.0 else 0.0 for name, cost in costs.items()}
