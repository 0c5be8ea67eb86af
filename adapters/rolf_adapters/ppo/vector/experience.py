"""Experience: what a learner learns from: the steps that its rows play in an iteration, and what came of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from rolf_adapters.ppo import credit, parallel, seeds, segments
from rolf_adapters.ppo.curiosity import Curiosity
from rolf_adapters.ppo.support import check_support
from rolf_adapters.ppo.twins import beyond_twins
from rolf_adapters.ppo.vector.choosing import Choosing
from rolf_adapters.ppo.vector.collector import Collected, Collector, Watcher
from rolf_adapters.ppo.vector.layout import Layout
from rolf_adapters.ppo.vector.making import variants_of
from rolf_adapters.ppo.vector.network import Network
from rolf_adapters.ppo.vector.settings import Settings, Training
from rolf_adapters.ppo.vector.statistics import gathered
from rolf_adapters.ppo.vector.teacher import Teacher, teacher
from rolf_adapters.ppo.vector.telling import of_credit
from rolf_adapters.ppo.vector.update import Samples

if TYPE_CHECKING:
    from rolf_adapters.ppo.vector.replay import Replaying


class Experience:
    """Collects the steps of an iteration and says what they were worth.

    Args:
        settings: What is played, and how it learns.
        network: What decides, and judges.
        layout: Of the policy; None: plain.
        collector: Plays the rows of this process.
        seed: Of the training.

    Raises:
        ValueError: rows cannot be shared out among the processes, variants are not known, by the environment either, or
            there is no such teacher.
    """

    def __init__(
        self, settings: Settings, network: Network, layout: Layout | None, collector: Collector, seed: int
    ) -> None:
        self._settings, self._network, self._layout, self._seed = settings, network, layout, seed
        self.collector = collector
        self._share = share_of(settings)
        self.reward_scale = 0.0
        """What rewards are multiplied by; 0: not known yet, as the statistics are still to be taken."""
        world = settings.environment
        if world.split:
            check_support(world.split, held_out=world.held_out)
        known = variants_of(world.id, world.split) if world.split else {each: each for each in world.variants}
        self.choosing = Choosing(known, settings.rollout.sampler, seed)
        weight = settings.reward.curiosity
        self.told: dict[str, float] = {}
        """What the latest samples' rewards and values have come to; see `rolf_adapters.ppo.metrics`."""
        self.curiosity = Curiosity(network.size.features, seed, weight=weight) if weight else None
        named = settings.training.imitation.teacher
        self._teacher: Teacher | None = teacher(named) if named else None
        if self.choosing.known:  # before anything is written or trained
            asked = self._options(self.choosing.chosen(settings.rollout.rows, -1)) or {}
            collector.try_variants(self.row_seeds("statistics"), **asked)

    # ---- what is played

    def take_statistics(self) -> None:
        """Find mean and spread of observations, and the size of returns, from the first steps of every row."""
        rollout = self._settings.rollout
        chosen = self.choosing.chosen(rollout.rows, -1)
        found = gathered(
            self.collector,
            self._network,
            rollout.statistics,
            min(rollout.steps, rollout.statistics),
            self.row_seeds("statistics"),
            self._options(chosen),
            seeds.torch_generator(self._seed, "statistics", parallel.rank()),
            self._settings.reward.discount,
        )
        self._network.normalise_by(*found.of_features(self._layout, self._network.size.observation))
        self.reward_scale = found.reward_scale() if self._settings.reward.normalise else 1.0

    def chosen(self, iteration: int, imitates: bool) -> list[str]:
        """Return the variant of each row of all processes; none where the environment chooses."""
        twins = self._twins(imitates)
        found = self.choosing.chosen(self._settings.rollout.rows // twins, iteration)
        return [each for each in found for _ in range(twins)]

    def collected(self, iteration: int, chosen: Sequence[str], imitates: bool, watcher: Watcher | None) -> Collected:
        """Play an iteration's steps.

        Args:
            iteration: The present one.
            chosen: The variant of each row of all processes.
            imitates: Whether a teacher is asked.
            watcher: Watches.
        """
        imitation, asked = self._settings.training.imitation, None
        guided = np.zeros(self._share, np.bool_)
        if imitates:
            asked = self._teacher
            share = max(0.0, 1 - iteration / imitation.guided) if imitation.guided else 0.0
            drawing = seeds.generator(self._seed, "guided", iteration, parallel.rank())
            guided = drawing.random(self._share) < share
        return self.collector.collect(
            self._network,
            self._settings.rollout.steps,
            self.row_seeds("rollout", iteration, twins=self._twins(imitates)),
            options=self._options(chosen),
            generator=seeds.torch_generator(self._seed, "actions", iteration, parallel.rank()),
            teacher=asked,
            guided=guided,
            watcher=watcher,
        )

    def row_seeds(self, *names: str | int, twins: int = 1) -> list[int]:
        """Return the seed of each row of this process; so many that follow each other have the same."""
        first = parallel.rank() * self._share
        return [seeds.number(self._seed, *names, row // twins) for row in range(first, first + self._share)]

    def _twins(self, imitates: bool) -> int:
        """Return how many rows that follow each other play the same."""
        return 1 if imitates else self._settings.rollout.twins

    def _options(self, chosen: Sequence[str]) -> dict[str, Any] | None:
        first = parallel.rank() * self._share
        return {"variants": [*chosen[first : first + self._share]]} if chosen else None

    # ---- what came of it

    def samples(self, kept: Collected, iteration: int, imitates: bool, replaying: Replaying | None) -> Samples:
        """Return what was collected with what came of it, and after it what is learned from again.

        Args:
            kept: What was collected.
            iteration: The present one.
            imitates: Whether a teacher was asked.
            replaying: Where there is something to be learned from again.
        """
        reward, training = self._settings.reward, self._settings.training
        intrinsic = self._novelty(kept)
        paid = kept.rewards * self.reward_scale + intrinsic
        earned = credit.over_time(
            paid,
            kept.values,
            kept.last,
            kept.terminated,
            kept.truncated,
            kept.finals,
            discount=reward.discount,
            trace=reward.trace,
        )
        self.told = of_credit(paid, intrinsic if self.curiosity is not None else None, kept.values, earned.returns)
        places, every = segments.of_phases(kept.phases), np.ones(kept.rewards.shape, np.bool_)
        beyond = beyond_twins(earned.advantages, self._twins(imitates))
        shared = _summed(beyond, places, training)
        advantages = segments.normalised(beyond, places, every, training.normalise, summed=shared)
        clips = training.clips if isinstance(training.clips, tuple) else (training.clips,) * 4
        samples = Samples.of(kept, places, advantages, earned.returns, segments.clip_ranges(places, clips))
        if replaying is None:
            return samples
        scale = _summed(earned.advantages, places, training)  # stored rows have no twins
        stored = replaying.samples(len(samples), iteration, self.paid, clips, scale)
        if stored is None:  # counted all the same: another process may have some, and they add up their counts
            return replace(samples, fresh=len(samples))
        return samples.with_stored(stored)

    def _novelty(self, kept: Collected) -> NDArray[np.float64]:  # (steps, rows)
        """Return what is paid for having come to something new, and learn of it."""
        if self.curiosity is None:
            return np.zeros(kept.rewards.shape)
        reached = torch.from_numpy(np.concatenate([kept.features[1:], kept.after[None]])).flatten(0, 1)
        goes_on = torch.from_numpy(~(kept.terminated | kept.truncated)).flatten()
        normal = self._network.normalised(reached)
        paid = torch.where(goes_on, self.curiosity.reward(normal), 0.0)
        self.curiosity.learn(normal, goes_on)
        found: NDArray[np.float64] = paid.double().numpy().reshape(kept.rewards.shape)
        return found

    def paid(
        self, reached: NDArray[np.float32], rewards: NDArray[np.float64], goes_on: NDArray[np.bool_]
    ) -> NDArray[np.float64]:  # (steps,)
        """Return what is learned from of a stored episode's rewards; see `rolf_adapters.ppo.vector.reanalysis.Paid`."""
        paid = rewards * self.reward_scale
        if self.curiosity is None:
            return paid
        new = self.curiosity.reward(self._network.normalised(torch.from_numpy(reached)))
        return paid + np.where(goes_on, new.double().numpy(), 0.0)


def share_of(settings: Settings) -> int:
    """Return how many rows a process plays.

    Raises:
        ValueError: they cannot be shared out evenly.
    """
    rows, twins = settings.rollout.rows, settings.rollout.twins
    if rows % parallel.size():
        raise ValueError(f"{rows} rows cannot be shared out among {parallel.size()} processes evenly")
    share = rows // parallel.size()
    if share % twins:
        raise ValueError(f"{share} rows of a process cannot be shared out among rollout.twins={twins}")
    return share


def _summed(advantages: NDArray[np.float64], places: NDArray[np.int64], training: Training) -> NDArray[np.float64]:
    """Return `segments.sums` of all steps of all processes."""
    sums = segments.sums(advantages, places, np.ones(places.shape, np.bool_), training.normalise)
    found: NDArray[np.float64] = parallel.summed(torch.from_numpy(sums)).numpy()
    return found
