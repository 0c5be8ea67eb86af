"""Staleness: what episodes of an older policy count in the update of a newer one.

A sample counts by how much likelier the policy finds it as the update begins than the one that collected it did, up to
a bound; the clip range is laid round the policy as the update begins. So a step goes as far as it would with fresh
episodes, however old they are (Queeney and others, "Generalized proximal policy optimization with sample reuse", 2021;
the decoupled objective is that of Hilton and others, "Batch size-invariance for policy optimization", 2022).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from rolf_adapters.ppo import parallel
from rolf_adapters.ppo.language.batches import Sample, joined, likelihoods
from rolf_adapters.ppo.language.policy import LanguagePolicy
from rolf_adapters.ppo.language.settings import Settings, Training
from rolf_adapters.ppo.language.turns import Episode
from rolf_adapters.ppo.losses import stale_weights


def fresh(episodes: Sequence[Episode], version: int, limit: int) -> list[Episode]:
    """Return the episodes in which no answer is of a policy that is older than allowed.

    Args:
        episodes: Of this process.
        version: Of the policy that learns.
        limit: Most versions between the two.
    """
    return [each for each in episodes if version - min(turn.version for turn in each.turns) <= limit]


def weighted(policy: LanguagePolicy, samples: Sequence[Sample], training: Training) -> list[Sample]:
    """Return samples as the policy finds them that is about to learn from them.

    Args:
        policy: As the update begins.
        samples: With the log-probabilities of the policy that collected them.
        training: How it learns.

    Returns:
        Samples with the log-probabilities of this policy, and with weights.
    """
    found = []
    for each, logps in zip(samples, likelihoods(policy, samples, training.budget), strict=True):
        now, then = torch.from_numpy(logps), torch.from_numpy(each.logps)
        weights = stale_weights(now, then, torch.ones_like(now, dtype=torch.bool), training.stale_weight)
        found.append(each._replace(logps=logps, weights=weights.numpy()))
    return found


def told(
    episodes: Sequence[Episode], samples: Sequence[Sample], version: int, settings: Settings
) -> Mapping[str, float]:
    """Return how old what was learned from is, and what it counts; the same on all processes.

    Args:
        episodes: Of this process, all that were played.
        samples: What is learned from them, with weights.
        version: Of the policy that learns.
        settings: How old they may be, and what they may count.
    """
    dropped = len(episodes) - len(fresh(episodes, version, settings.rollout.staleness))
    ages = torch.tensor([float(version - turn.version) for each in episodes for turn in each.turns])
    weights = joined(samples, "weights") if samples else torch.zeros(0)
    truncated = (weights >= settings.training.stale_weight).float()
    return {
        "rollout/dropped": float(parallel.summed(torch.tensor(float(dropped)))),
        "rollout/staleness": parallel.moments(ages).mean,
        "policy/stale_weight": parallel.moments(weights).mean,
        "policy/stale_truncated": parallel.moments(truncated).mean,
    }
