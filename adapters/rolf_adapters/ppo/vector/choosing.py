"""Choosing: which variants the rows of an iteration play."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from rolf_adapters.ppo import seeds
from rolf_adapters.ppo.vector.collector import Episode

MOST_TOLD = 50
"""Groups whose shares are logged."""
MOST_DECISIONS = 1_000
"""Decisions of an iteration that are logged one by one: some 50 kB."""


class Choosing:
    """Chooses variants evenly, or leaves it to the orchestrator.

    Args:
        known: The variants, each with the group of those like it; none: the environment chooses.
        sampler: ``uniform``, or the rule of `rolf_adapters.ppo.orchestrator.Orchestrator`.
        seed: Of the training.
    """

    def __init__(self, known: Mapping[str, str], sampler: Literal["uniform", "ucb", "thompson"], seed: int) -> None:
        self.known = tuple(known)
        self.groups = dict(known)
        """Of each variant."""
        self._seed = seed
        self._orchestrator: Any = None
        if self.known and sampler != "uniform":
            from rolf_adapters.ppo.orchestrator import Orchestrator  # only where it is asked for

            self._orchestrator = Orchestrator(self.known, seed, rule=sampler, groups=self.groups)

    def chosen(self, rows: int, iteration: int) -> list[str]:
        """Return the variant of each row; none where the environment chooses."""
        if not self.known:
            return []
        if self._orchestrator is not None and iteration >= 0:
            return [*self._orchestrator.choose(rows, iteration)]
        drawing = seeds.generator(self._seed, "variants", iteration)
        places = drawing.choice(len(self.known), rows, replace=rows > len(self.known))
        return [self.known[place] for place in places.tolist()]

    def told(self, chosen: Sequence[str]) -> dict[str, float]:
        """Return what is to be logged of a choice: the share of each group, where there are not too many."""
        if len(set(self.groups.values())) > MOST_TOLD:
            return {}
        counts = Counter(self.groups[each] for each in chosen)
        return {
            f"variants/{group}": counts[group] / len(chosen) for group in sorted(set(self.groups.values())) if chosen
        }

    @property
    def decides(self) -> bool:
        """Whether the orchestrator chooses."""
        return self._orchestrator is not None

    def decided(self) -> dict[str, Any]:
        """Return what the orchestrator has decided for an iteration and why, as plain JSON; see `decides`."""
        record: dict[str, Any] = self._orchestrator.record(MOST_DECISIONS)
        return record

    def learn(self, iteration: int, episodes: Sequence[Sequence[Any]]) -> None:
        """Tell the orchestrator how uncertain the policy was."""
        if self._orchestrator is not None:
            ended = [Episode(*each) for each in episodes]
            self._orchestrator.learn(iteration, [(each.variant, each.entropy) for each in ended])

    def state(self) -> Any:
        """Return what later choices depend on, as plain data."""
        return None if self._orchestrator is None else self._orchestrator.state()

    def load(self, state: Any) -> None:
        """Become what `state` said."""
        if self._orchestrator is not None:
            self._orchestrator.load(state)
