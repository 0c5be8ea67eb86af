"""Statistics: mean and spread of observations and the size of returns, from the first steps of every row, then frozen.

A normalisation that moved while a policy learns would be a second thing that changes what the same weights do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rolf_adapters.ppo import parallel
from rolf_adapters.ppo.soundness import see_measured
from rolf_adapters.ppo.vector.collector import Collector
from rolf_adapters.ppo.vector.layout import Layout
from rolf_adapters.ppo.vector.network import Network

LEAST = 1e-4
"""Spreads below this are of numbers that stand still; they are left as they are."""

Numbers = NDArray[np.float64]


class Statistics:
    """Sums over steps and rows, which add up over processes."""

    def __init__(self, features: int) -> None:
        self.sums: Numbers = np.zeros((3, features))
        """count, sum and sum of squares"""
        self.returns: Numbers = np.zeros(3)

    def shared(self) -> Statistics:
        """Return the sums over all processes."""
        found = Statistics(self.sums.shape[1])
        found.sums = parallel.summed(torch.from_numpy(self.sums)).numpy()
        found.returns = parallel.summed(torch.from_numpy(self.returns)).numpy()
        return found

    def of_features(self, layout: Layout | None, observation: int) -> tuple[Tensor, Tensor]:
        """Return what to subtract from features and to multiply by, alike for all entities: (features,) each."""
        pooled = self.sums.copy()
        if layout is not None:
            last = layout.first + layout.entities * layout.size
            for first, end in ((layout.first, last), (observation, pooled.shape[1])):
                block = pooled[:, first:end].reshape(3, layout.entities, -1)
                pooled[:, first:end] = np.broadcast_to(block.sum(axis=1, keepdims=True), block.shape).reshape(3, -1)
        mean, spread = _moments(pooled)
        scale = np.where(spread > LEAST, 1 / np.maximum(spread, LEAST), 1.0)
        return torch.from_numpy(mean.astype(np.float32)), torch.from_numpy(scale.astype(np.float32))

    def reward_scale(self) -> float:
        """Return what rewards are multiplied by, so that returns have a spread of about 1."""
        _, spread = _moments(self.returns)
        return 1 / float(spread) if spread > LEAST else 1.0


def gathered(
    collector: Collector,
    network: Network,
    steps: int,
    at_once: int,
    seeds: Sequence[int],
    options: Mapping[str, Any] | None,
    generator: torch.Generator,
    discount: float,
) -> Statistics:
    """Play so many steps of every row, and return what was seen.

    Args:
        collector: Plays.
        network: Decides; one that has learned nothing acts nearly at random.
        steps: Of every row.
        at_once: Steps from one reset to the next.
        seeds: Of each row; each reset counts on from them.
        options: Of each reset.
        generator: Of the actions.
        discount: Of returns.
    """
    found = Statistics(network.size.features)
    for number in range(-(-steps // at_once)):
        drawn = [(seed + number) % 2**63 for seed in seeds]
        kept = collector.collect(network, at_once, drawn, options=options, generator=generator)
        part = kept.features[: steps - number * at_once].reshape(-1, network.size.features)
        see_measured(collector.envs, part)
        _add(found.sums, part)
        total = np.zeros(kept.rewards.shape[1])
        for step in range(len(kept.rewards)):
            total = discount * total + kept.rewards[step]
            _add(found.returns, total)
            total[kept.terminated[step] | kept.truncated[step]] = 0
    return found.shared()


def _add(sums: Numbers, values: NDArray[Any]) -> None:
    """Add samples, (n,) or (n, features), to their count, sum and sum of squares."""
    sums[0] += len(values)
    sums[1] += values.sum(axis=0, dtype=np.float64)
    sums[2] += np.square(values, dtype=np.float64).sum(axis=0)


def _moments(sums: Numbers) -> tuple[Numbers, Numbers]:
    """Return mean and standard deviation."""
    mean = sums[1] / sums[0]
    return mean, np.sqrt(np.maximum(sums[2] / sums[0] - mean * mean, 0))
