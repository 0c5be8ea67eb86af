"""Report: what an iteration came to, in numbers, the same on all processes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch

from rolf_adapters.ppo import parallel
from rolf_adapters.ppo.families import told_as
from rolf_adapters.ppo.language.batches import Sample
from rolf_adapters.ppo.language.collector import Collected
from rolf_adapters.ppo.language.turns import Episode
from rolf_adapters.ppo.language.update import Figures
from rolf_adapters.ppo.segments import Segment


class Row(NamedTuple):
    """How one episode ended."""

    success: bool | None
    """None: its machine failed, or its first prompt was too long."""
    score: float
    episode_return: float
    family: str


def everywhere(episodes: Sequence[Episode | None], count: int) -> list[Row]:
    """Return how the episodes of all processes ended, in the order of their problems.

    Args:
        episodes: Of this process: each of so many in turn.
        count: Of all.
    """
    mine = [
        [None, 0.0, 0.0, ""] if each is None else [each.success, each.score, float(each.rewards.sum()), each.label]
        for each in episodes
    ]
    shares = parallel.gathered(mine)
    return [Row(*shares[index % len(shares)][index // len(shares)]) for index in range(count)]


def by_family(known: Iterable[tuple[str, bool]]) -> dict[str, float]:
    """Return the success of each family of tasks: an average hides one that is lost.

    Args:
        known: Family and success of each episode; one of no family is left out.
    """
    told = [(family, success) for family, success in known if family]
    names = told_as(family for family, _ in told)
    found: dict[str, list[bool]] = {name: [] for name in names.values()}
    for family, success in told:
        found[names[family]].append(success)
    return {f"family/{name}": float(np.mean(each)) for name, each in found.items()}


def of_episodes(collected: Collected, end: int) -> Mapping[str, float]:
    """Return what episodes came to.

    Args:
        collected: Of this process.
        end: Id of the token that ends an answer.
    """
    played = collected.played
    turns = [turn for episode in played for turn in episode.turns]
    counts = {
        "asked": len(collected.episodes),
        "episodes": len(played),
        "steps": len(turns),
        "timeouts": sum(turn.timeout for turn in turns),
        "faults": len(collected.faults),
        "too_long": len(collected.too_long),
        "malformed": sum(turn.malformed for turn in turns),
        "success": sum(episode.success for episode in played),
        "return": sum(float(episode.rewards.sum()) for episode in played),
        "score": sum(episode.score for episode in played),
        "tokens": sum(len(turn.said.ids) for turn in turns),
        "chosen": sum(int(turn.said.chosen.sum()) for turn in turns),
        "cut": sum(turn.said.ids[-1] != end for turn in turns),
    }
    added = parallel.summed(torch.tensor([float(count) for count in counts.values()], dtype=torch.float64))
    told = dict(zip(counts, added.tolist(), strict=True))
    known = [(episode.label, episode.success) for episode in played]
    families = by_family(pair for share in parallel.gathered(known) for pair in share)
    return {**_shares(told), **{f"rollout/{name}": success for name, success in families.items()}}


def _shares(told: Mapping[str, float]) -> dict[str, float]:
    """Return what is told of sums over all processes."""
    each, step = max(told["episodes"], 1.0), max(told["steps"], 1.0)
    return {
        "rollout/episodes": told["episodes"],
        "rollout/steps": told["steps"],
        "rollout/faults": told["faults"],
        "rollout/fault_share": told["faults"] / max(told["asked"], 1.0),
        "rollout/too_long": told["too_long"],
        "rollout/timeouts": told["timeouts"] / step,
        "rollout/success": told["success"] / each,
        "rollout/return": told["return"] / each,
        "rollout/score": told["score"] / each,
        "rollout/length": told["steps"] / each,
        "rollout/tool_calls": (told["steps"] - told["malformed"]) / each,
        "rollout/malformed": told["malformed"] / step,
        "rollout/tokens": told["tokens"] / step,
        "rollout/chosen": told["chosen"] / step,
        "rollout/cut": told["cut"] / step,
    }


def of_update(figures: Figures, samples: Sequence[Sample]) -> Mapping[str, float]:
    """Return what an update came to."""
    valued = torch.from_numpy(np.concatenate([each.valued for each in samples] or [np.zeros(0, np.bool_)]))
    returns = torch.from_numpy(np.concatenate([each.returns for each in samples] or [np.zeros(0)]))
    values = torch.from_numpy(np.concatenate([each.values for each in samples] or [np.zeros(0, np.float32)]))
    missed, all_ = parallel.moments(returns - values, valued), parallel.moments(returns, valued)
    told = {
        "value/explained": 1.0 - missed.variance / all_.variance if all_.variance > 0 else 0.0,
        "policy/first_kl": figures.steps[0]["kl"] if figures.steps else 0.0,
        "own/first_gap": figures.steps[0]["gap"] if figures.steps else 0.0,
        "policy/steps": float(len(figures.steps)),
        "policy/gradient": float(np.mean(figures.gradients)) if figures.gradients else 0.0,
    }
    if figures.steps:
        told |= {
            "policy/loss": figures.mean("loss"),
            "policy/entropy": figures.mean("entropy"),
            "policy/kl": figures.mean("kl"),
            "value/loss": figures.mean("value"),
        }
    outside, every = parallel.summed(figures.clipped).tolist()
    for segment in Segment:
        told[f"policy/clipped_{segment.name.lower()}"] = outside[segment] / every[segment] if every[segment] else 0.0
    return told
