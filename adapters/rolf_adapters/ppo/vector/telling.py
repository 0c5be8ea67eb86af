"""Telling: what an iteration came to, as named numbers; see `rolf_adapters.ppo.metrics` for the names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rolf_adapters.ppo.segment import Segment
from rolf_adapters.ppo.vector.collector import Episode
from rolf_adapters.ppo.vector.update import Outcome


def of_episodes(episodes: Sequence[Sequence[Any]], steps: int) -> dict[str, float]:
    """Return what is told of episodes that have ended.

    Args:
        episodes: As `Episode` has them.
        steps: Steps that were played.
    """
    ended = [Episode(*each) for each in episodes]
    success = [each.success for each in ended if not np.isnan(each.success)]
    return {
        "rollout/return": _mean([each.total for each in ended]),
        "rollout/length": _mean([each.length for each in ended]),
        "rollout/success": _mean(success),
        "rollout/entropy": _mean([each.entropy for each in ended]),
        "rollout/episodes": float(len(ended)),
        "rollout/steps": float(steps),
    }


def of_outcome(outcome: Outcome, imitates: bool) -> dict[str, float]:
    """Return what is told of an update."""
    shares = outcome.clips[0] / np.maximum(outcome.clips[1], 1)
    named = zip(Segment, shares, strict=True)
    return {
        "own/imitation" if imitates else "policy/loss": outcome.policy,
        "value/loss": outcome.value,
        "policy/entropy": outcome.entropy,
        "policy/kl": outcome.divergence,
        "policy/first_kl": outcome.first,
        "policy/gradient": outcome.gradient,
        "policy/steps": float(outcome.steps),
        **{f"policy/clipped_{segment.name.lower()}": float(share) for segment, share in named},
    }


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else float("nan")
