"""Hard variants: which ones a policy does worst in, and which of its own episodes there are worth learning from again.

What it once managed in a hard variant it should manage every time: the best episode of each is learned by heart, with
`rolf_adapters.ppo.losses.imitation_loss`, or from a better policy with `rolf_adapters.ppo.losses.distillation_loss`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

HARDEST = 500
"""How many the mission asks for."""

Episode = TypeVar("Episode")


def hardest(means: Mapping[str, float], count: int = HARDEST) -> list[str]:
    """Return the variants with the lowest mean score, the lowest first; of equal ones the name decides.

    Args:
        means: Mean score of a policy's episodes in each variant that it has played, the higher the better.
        count: How many; all that were played if there are not more.

    Raises:
        ValueError: a mean is no number, or ``count`` is not above 0.
    """
    if count < 1:
        raise ValueError(f"count={count!r} leaves no variant; give a whole number from 1")
    for variant, mean in means.items():
        if math.isnan(mean):
            raise ValueError(f"the mean score of {variant!r} is no number; see what its episodes are scored by")
    return sorted(means, key=lambda variant: (means[variant], variant))[:count]


def best(
    episodes: Iterable[Episode],
    variant: Callable[[Episode], str],
    score: Callable[[Episode], float],
    *,
    above: float = -math.inf,
) -> list[Episode]:
    """Return the best episode of each variant, in the order in which the variants first appear.

    Args:
        episodes: A policy's own; of equal ones the first counts.
        variant: Tells which variant an episode is of.
        score: Tells how good it was.
        above: An episode must be better than this: 0 leaves out variants in which nothing was managed yet.

    Raises:
        ValueError: a score is no number.
    """
    found: dict[str, tuple[float, Episode]] = {}
    for episode in episodes:
        name, value = variant(episode), score(episode)
        if math.isnan(value):
            raise ValueError(f"the score of an episode of {name!r} is no number")
        if value > above and (name not in found or value > found[name][0]):
            found[name] = (value, episode)
    return [episode for _, episode in found.values()]
