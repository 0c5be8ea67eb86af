"""Telling: what an iteration came to, as named numbers; see `rolf_adapters.ppo.metrics` for the names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from rolf_adapters.ppo import parallel
from rolf_adapters.ppo.segment import Segment
from rolf_adapters.ppo.vector.collector import Episode
from rolf_adapters.ppo.vector.families import Score, of_families, with_interval
from rolf_adapters.ppo.vector.update import Outcome


def of_episodes(
    episodes: Sequence[Sequence[Any]], steps: int, groups: Mapping[str, str], score: Score | None
) -> dict[str, float]:
    """Return what is told of episodes that have ended, with actions drawn.

    Args:
        episodes: As `Episode` has them.
        steps: Steps that were played.
        groups: Of each variant.
        score: Of a return, where that is known.
    """
    ended = [Episode(*each) for each in episodes]
    return _of_all(ended, steps, score) | of_families(ended, groups, score, greedy=False)


def of_evaluation(ended: Sequence[Episode], groups: Mapping[str, str], score: Score | None) -> dict[str, float]:
    """Return what is told of episodes that were played greedily, with intervals of 95 % over variants."""
    told = {name.replace("rollout/", "evaluation/"): value for name, value in _of_all(ended, 0, score).items()}
    clear = [each for each in ended if not np.isnan(each.success)]
    told |= {"evaluation/success_low": float("nan"), "evaluation/success_high": float("nan")}  # where none is told
    told |= with_interval("evaluation/success", [each.success for each in clear], clear, bounds=(0.0, 1.0))
    told |= with_interval("evaluation/return", [each.total for each in ended], ended)
    if score is not None:
        told |= with_interval("evaluation/score", [score(each.variant, each.total) for each in ended], ended)
    return told | of_families(ended, groups, score, greedy=True)


def of_credit(
    paid: NDArray[np.float64],
    intrinsic: NDArray[np.float64] | None,
    values: NDArray[np.float32],
    returns: NDArray[np.float64],
) -> dict[str, float]:
    """Return what is told of what a step was paid and what the critic knew of it beforehand, in all processes.

    Args:
        paid: What is learned from, (steps, rows).
        intrinsic: What of it is for coming to something new; None: there is nothing for that.
        values: What the critic said.
        returns: What it should have said.
    """
    missed, every, pay = (parallel.moments(torch.from_numpy(each)) for each in (returns - values, returns, paid))
    told = {
        "value/explained": 1.0 - missed.variance / every.variance if every.variance > 0 else 0.0,
        "reward/mean": pay.mean,
    }
    return (
        told if intrinsic is None else told | {"reward/curiosity": parallel.moments(torch.from_numpy(intrinsic)).mean}
    )


def _of_all(ended: Sequence[Episode], steps: int, score: Score | None) -> dict[str, float]:
    success = [each.success for each in ended if not np.isnan(each.success)]
    scores = [] if score is None else [score(each.variant, each.total) for each in ended]
    return {
        **({} if score is None else {"rollout/score": _mean(scores)}),
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
