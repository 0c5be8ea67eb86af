"""Distillation: the variants that a policy does worst in are played several times, and what it did best is imitated.

What is imitated is better than usual; elsewhere the policy and its critic are held near what they were before. The
founding text calls it environment distillation: of 7 000 environments the 500 hardest, trained on apart.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rolf_adapters.ppo import hard_variants, losses, parallel, seeds
from rolf_adapters.ppo.run import TrainingError
from rolf_adapters.ppo.vector.choice import chance_of, log_chances
from rolf_adapters.ppo.vector.collector import Collected, Collector, Episode
from rolf_adapters.ppo.vector.families import Score, scorer
from rolf_adapters.ppo.vector.network import Network, Seen
from rolf_adapters.ppo.vector.packing import Shown, packed, unpacked
from rolf_adapters.ppo.vector.settings import Distillation
from rolf_adapters.ppo.vector.update import Learning

TOGETHER = 8
"""Episodes of a step of the optimiser, of each process."""
HELD = 4_096
"""Most steps, of what was just collected, at which the policy is held."""


class Managed(NamedTuple):
    """The best of several episodes of a variant."""

    variant: str
    score: float
    columns: Mapping[str, Any]
    """What the network was shown, packed."""
    actions: NDArray[np.int64]


class Distilling:
    """Remembers how each variant went, and imitates the best of the hardest.

    Args:
        settings: When and how.
        known: The variants that are trained on.
        seed: Of the training.

    Raises:
        ValueError: variants are not known by name, or there is no such score.
    """

    def __init__(self, settings: Distillation, known: Sequence[str], seed: int) -> None:
        if not known:
            raise ValueError("training.distillation needs variants to choose from; give environment.split or variants")
        self.settings = settings
        self._seed = seed
        self._score: Score = scorer("training.distillation.score", settings.score) or _itself
        self._scores: dict[str, tuple[int, float]] = {}
        """How many of each variant there were, and their sum: every checkpoint holds them, so that they must not grow
        with the episodes."""

    def learn(self, episodes: Sequence[Sequence[Any]]) -> None:
        """Take in how episodes of all processes went.

        Raises:
            TrainingError: the environment does not tell which variant one was of.
        """
        for each in (Episode(*told) for told in episodes):
            if not each.variant:
                raise TrainingError(
                    "training.distillation compares variants, and the environment does not tell which one an episode "
                    "was of; have its info tell 'variant_id', or leave training.distillation out"
                )
            count, total = self._scores.get(each.variant, (0, 0.0))
            self._scores[each.variant] = count + 1, total + self._score(each.variant, each.total)

    def due(self, done: int) -> bool:
        """Return whether it takes place after so many iterations of PPO."""
        return done > 0 and done % self.settings.every == 0 and bool(self._scores)

    def distil(
        self, learning: Learning, collector: Collector, kept: Collected, steps: int, iteration: int
    ) -> dict[str, float]:
        """Play the hardest variants, imitate what was better than usual, and return what is to be logged.

        Args:
            learning: What learns.
            collector: Plays.
            kept: What was just collected, at which the policy is held; it is overwritten.
            steps: Of an episode at most.
            iteration: The present one.
        """
        held = self._held(kept, iteration)
        means = {name: total / count for name, (count, total) in self._scores.items()}
        hard = hard_variants.hardest(means, self.settings.count)
        usual = {name: means[name] for name in hard}
        best = self._managed(learning.network, collector, hard, usual, steps, iteration)
        for group in learning.optimiser.param_groups:
            group["lr"] = self.settings.learning_rate
        said = self._imitate(learning, best, held, iteration)
        gains = [each.score - usual[each.variant] for each in best]
        count, gain = np.sum(parallel.gathered([float(len(best)), float(sum(gains))]), axis=0).tolist()
        return {
            "own/hard_variants": float(len(hard)),
            "own/hard_score": float(np.mean([*usual.values()])),
            "own/hard_imitated": count,
            "own/hard_gain": gain / count if count else float("nan"),
            "own/hard_loss": said[0],
            "own/hard_held": said[1],
        }

    def _held(self, kept: Collected, iteration: int) -> Shown:
        """Return some of what was just collected, as a copy."""
        drawing = seeds.generator(self._seed, "held", iteration, parallel.rank())
        steps, rows = kept.time.shape
        step, row = np.divmod(drawing.choice(steps * rows, min(steps * rows, HELD), replace=False), rows)
        return _shown(kept, step, row)

    def _managed(
        self,
        network: Network,
        collector: Collector,
        hard: Sequence[str],
        usual: Mapping[str, float],
        steps: int,
        iteration: int,
    ) -> list[Managed]:
        """Play this process's part of the variants; return the best episode of each that is better than usual."""
        mine, attempts = hard[parallel.rank() :: parallel.size()], min(self.settings.attempts, collector.rows)
        generator = seeds.torch_generator(self._seed, "hard actions", iteration, parallel.rank())
        together = collector.rows // attempts
        found: list[Managed] = []
        for first in range(0, len(mine), together):
            names = [name for name in mine[first : first + together] for _ in range(attempts)]
            names += names[:1] * (collector.rows - len(names))
            rows = range(collector.rows)
            drawn = [seeds.number(self._seed, "hard", iteration, parallel.rank(), first, row) for row in rows]
            kept = collector.collect(network, steps, drawn, options={"variants": names}, generator=generator)
            found += self._better(kept, names, usual)
        return found

    def _better(self, kept: Collected, names: Sequence[str], usual: Mapping[str, float]) -> list[Managed]:
        """Return the best episode of each variant, of those that are better than usual."""
        first = {each.row: each for each in reversed(kept.episodes)}
        worth = {row: self._score(names[row], each.total) for row, each in first.items()}
        better = [row for row in sorted(first) if worth[row] > usual[names[row]] + self.settings.margin]
        best = hard_variants.best(better, names.__getitem__, worth.__getitem__)
        return [_managed(kept, first[row], names[row], worth[row]) for row in best]

    def _imitate(self, learning: Learning, best: Sequence[Managed], held: Shown, iteration: int) -> tuple[float, float]:
        """Take the passes; return what the losses came to, mean over steps of the optimiser."""
        counts = parallel.gathered(len(best))
        if not any(counts):
            return float("nan"), float("nan")
        steps = -(-max(counts) // TOGETHER)
        before = copy.deepcopy(learning.network)
        drawing = seeds.generator(self._seed, "distillation", iteration, parallel.rank())
        told: list[tuple[float, float]] = []
        for _ in range(self.settings.epochs):
            parts = np.array_split(drawing.permutation(len(best)), steps)
            holds = np.array_split(drawing.permutation(len(held.time)), steps)
            for part, hold in zip(parts, holds, strict=True):
                chosen = [best[place] for place in part.tolist()]
                told.append(self._step(learning, before, chosen, held.taken(hold)))
        return float(np.mean([each[0] for each in told])), float(np.mean([each[1] for each in told]))

    def _step(self, learning: Learning, before: Network, chosen: Sequence[Managed], held: Shown) -> tuple[float, float]:
        """Take a step of the optimiser; return what was imitated badly, and how far the rest has moved, of all."""
        network, parts = learning.network, learning.network.size.parts
        seen = held.seen()
        logits, values = network(seen)
        with torch.no_grad():
            old_logits, old_values = before(seen)
        every = torch.ones(len(values), dtype=torch.bool)
        total = parallel.summed(torch.tensor(float(len(values))))
        pieces = zip(*(each.split(parts, dim=1) for each in (logits, old_logits, seen.allowed)), strict=True)
        apart = torch.stack([losses.distillation_loss(new, old, every, total, may) for new, old, may in pieces]).sum()
        value = losses.value_loss(values, old_values, every, total)
        wrong = _imitation(network, chosen)
        learning.descend(wrong + self.settings.hold * (apart + learning.training.value * value))
        shared = parallel.summed(torch.stack([wrong.detach(), apart.detach()]).double())
        return float(shared[0]), float(shared[1])

    def state(self) -> dict[str, dict[str, float]]:
        """Return what later distillations depend on, as plain JSON."""
        return {name: {"count": count, "sum": total} for name, (count, total) in self._scores.items()}

    def load(self, state: Mapping[str, Mapping[str, float]]) -> None:
        """Become what `state` said."""
        self._scores = {name: (int(each["count"]), each["sum"]) for name, each in state.items()}


def _itself(_: str, total: float) -> float:
    return total


def _managed(kept: Collected, episode: Episode, name: str, score: float) -> Managed:
    steps, row = np.arange(episode.length), np.full(episode.length, episode.row)
    return Managed(name, score, packed(_shown(kept, steps, row)), kept.actions[steps, row])


def _shown(kept: Collected, steps: NDArray[np.int64], rows: NDArray[np.int64]) -> Shown:
    """Return what the network was shown in steps of rows, as a copy."""
    return Shown(
        kept.features[steps, rows],
        kept.words[steps, rows],
        kept.time[steps, rows],
        kept.previous[steps, rows],
        kept.allowed[steps, rows],
    )


def _imitation(network: Network, chosen: Sequence[Managed]) -> Tensor:
    """Return how unlikely what was managed is, over the steps of all processes; 0 without any here."""
    count = sum(len(each.actions) for each in chosen)
    total = parallel.summed(torch.tensor(float(count))).clamp(min=1)
    if not chosen:
        return torch.zeros(())
    shown = Shown.joined([unpacked(each.columns, network.size) for each in chosen])
    seen: Seen = shown.seen()
    chances = log_chances(network(seen)[0], seen.allowed, network.size.parts)
    actions = torch.from_numpy(np.concatenate([each.actions for each in chosen]))
    logps = chance_of(chances, actions, network.size.parts)
    return losses.imitation_loss(logps, torch.ones(count, dtype=torch.bool), total)
