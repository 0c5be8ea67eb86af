"""Sampling: which episodes or steps are drawn, how likely each was, and how to weigh what is learned from them.

`Uniform` draws each alike: the ordinary replay buffer. `Causal` draws in proportion to causal priority, but for a share
that is drawn uniformly, so that nothing is out of reach and no weight is without bound. Importance weights undo the
preference: ``(1 / (N · P)) ** beta`` for what was drawn with probability P out of N (Schaul et al., "Prioritized
experience replay", 2016), divided by the largest that any of the N could have.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Uniform:
    """Each alike; all weights are 1."""


@dataclass(frozen=True, slots=True)
class Causal:
    """By causal priority."""

    share: float = 0.2
    """How much is drawn uniformly all the same: what nothing depends on comes that much as often as in `Uniform`."""
    beta: float = 0.5
    """How far the weights undo the preference: 0 not at all, 1 wholly."""
    normalised: bool = True
    """Whether weights are divided by the largest that there could be, so that none exceeds 1."""

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise ValueError(f"share={self.share!r} is out of range; give more than 0 and at most 1")
        if not 0 <= self.beta <= 1:
            raise ValueError(f"beta={self.beta!r} is out of range; give 0 to 1")


Sampling: TypeAlias = Uniform | Causal
UNIFORM = Uniform()


class Sample(NamedTuple):
    """What was drawn, with replacement."""

    numbers: NDArray[np.int64]
    """(n,) the episodes' numbers."""
    steps: NDArray[np.int64] | None
    """(n,) which step of each; None where whole episodes were drawn."""
    probabilities: NDArray[np.float64]
    """(n,) how likely each was at every draw."""
    weights: NDArray[np.float64]
    """(n,) importance weights."""


def mixed(weights: NDArray[np.float64], total: float, count: int, share: float) -> NDArray[np.float64]:
    """Return the probabilities of weights among ``count`` that add up to ``total``; all alike where that is 0."""
    if total <= 0:
        return np.full(len(weights), 1 / count)
    return (1 - share) * weights / total + share / count


def importance(probabilities: NDArray[np.float64], count: int, least: float, sampling: Causal) -> NDArray[np.float64]:
    """Return importance weights.

    Args:
        probabilities: (n,) of what was drawn.
        count: N, how many there are to draw from.
        least: The smallest probability that any of them has.
        sampling: Says beta, and whether the weights are normalised.
    """
    weights = _power(1 / (count * probabilities), sampling.beta)
    if sampling.normalised:
        weights = weights / _power(np.array([1 / (count * least)]), sampling.beta)
    return weights


def _power(values: NDArray[np.float64], exponent: float) -> NDArray[np.float64]:
    """Return a power; by the square root, which is the same on every machine, where that is one."""
    if exponent == 0.5:
        return np.sqrt(values)
    return np.asarray(values**exponent, np.float64)


def preference(priorities: NDArray[np.float32], alpha: float) -> NDArray[np.float64]:
    """Return the weight with which each step is drawn: its priority to the power of alpha."""
    return _power(priorities.astype(np.float64), alpha)
