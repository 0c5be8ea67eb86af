"""Replay: an update also learns from steps of stored episodes, which an older policy has played.

Each counts what it would among fresh ones, as near as that can be had: its ratio of probabilities under the policy at
the beginning of the update and the one that played it, cut off above (`rolf_adapters.ppo.losses.stale_weights`), times
the importance weight of the drawing. PPO's clip range lies round the policy at the beginning of the update (Queeney and
others, "Generalized proximal policy optimization with sample reuse", 2021).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rolf_adapters.ppo import parallel, seeds, segments
from rolf_adapters.ppo.vector.collector import Collected, Watcher
from rolf_adapters.ppo.vector.network import Network
from rolf_adapters.ppo.vector.reanalysis import Judged, Paid, judged
from rolf_adapters.ppo.vector.recording import Recorder
from rolf_adapters.ppo.vector.settings import Settings
from rolf_adapters.ppo.vector.stored import Drawn, Plan, Stored
from rolf_adapters.ppo.vector.update import Samples

FAR = 10.0
"""Advantages of stored steps are cut to this [deviations of the fresh ones]: where a segment has few fresh steps, and
these are nearly alike, their deviation says nothing of stored ones."""


class Replaying:
    """Stores episodes and makes samples of stored ones.

    Args:
        settings: Of the training.
        envs: The environment that this process plays.
        network: What learns.
        folder: The training's.
        states: How many of the latest states may be gone back to.
        seed: Of the training.

    Raises:
        ValueError: rows cannot be shared out, or nothing tells what came of what and steps are to be drawn by it.
    """

    def __init__(self, settings: Settings, envs: Any, network: Network, folder: Path, states: int, seed: int) -> None:
        replay, rollout, processes = settings.training.replay, settings.rollout, parallel.size()
        if replay.rows % processes or replay.rows > rollout.rows:
            raise ValueError(
                f"training.replay.rows={replay.rows!r} must be at most rollout.rows={rollout.rows} and a multiple of "
                f"the {processes} processes"
            )
        self._settings, self._network, self._seed = settings, network, seed
        self._share = rollout.rows // processes
        self._recorder = Recorder(envs, replay.rows // processes, settings.environment.id)
        if replay.sampler == "causal" and not self._recorder.knows_causes:
            raise ValueError(
                f"training.replay.sampler is 'causal', and nothing tells what came of what in "
                f"{settings.environment.id}; give 'uniform' or 'fifo'"
            )
        plan = Plan(rollout.rows, rollout.steps, parallel.rank() * self._share)
        self._stored = Stored(replay, plan, folder, states, seed)
        self._sums = np.zeros(6)
        """Steps, and sums of their ages, weights and cut weights; top steps that were drawn, and all."""

    def watcher(self, iteration: int) -> Watcher:
        """Return who is to watch the collection of an iteration."""
        drawing = seeds.generator(self._seed, "replay rows", iteration, parallel.rank())
        count = self._settings.training.replay.rows // parallel.size()
        rows = np.sort(drawing.choice(self._share, count, replace=False))
        return self._recorder.watch(rows.tolist())

    def store(self, kept: Collected, iteration: int) -> None:
        """Store what was watched; samples of the same iteration must have been taken before."""
        self._stored.store(self._recorder, kept, iteration)

    def samples(
        self, fresh: int, iteration: int, paid: Paid, clips: Sequence[float], scale: NDArray[np.float64]
    ) -> Samples | None:
        """Return samples of stored steps; None where nothing is stored yet.

        Args:
            fresh: Samples that were just collected, beside which these are a share.
            iteration: The present one.
            paid: What rewards are learned as.
            clips: Clip range of each segment.
            scale: Sums of the fresh advantages, by which these are normalised too.
        """
        replay = self._settings.training.replay
        count = round(fresh * replay.share / (1 - replay.share))
        drawn = self._stored.draw(count, iteration) if count else None
        self._sums[:] = 0
        if drawn is None:
            return None
        found, ages, order = self._judged(drawn, iteration, paid)
        ratios, cut = found.weights(replay.most)
        weights = ratios * drawn.weights[order].astype(np.float32)
        covered, top = self._stored.covered(drawn, iteration)
        self._sums[:] = count, ages.sum(), weights.sum(dtype=np.float64), cut.sum(), covered, top
        by = self._settings.training.normalise
        every = np.ones(count, np.bool_)
        advantages = segments.normalised(found.advantages, found.places, every, by, summed=scale)
        return Samples(
            *found.shown, found.actions, np.zeros_like(found.actions), found.logps, found.values, found.places,
            advantages.clip(-FAR, FAR).astype(np.float32), found.returns.astype(np.float32),
            segments.clip_ranges(found.places, clips).astype(np.float32), weights,
        )  # fmt: skip

    def _judged(self, drawn: Drawn, iteration: int, paid: Paid) -> tuple[Judged, NDArray[np.int64], NDArray[np.int64]]:
        """Return the drawn steps, episode by episode, with the age of each and its place among the drawn ones."""
        reward = self._settings.reward
        places: defaultdict[int, list[int]] = defaultdict(list)
        for place, number in enumerate(drawn.numbers.tolist()):
            places[number].append(place)
        parts, ages = [], []
        for number in sorted(places):
            episode, steps = self._stored.episode(number), drawn.steps[places[number]]
            parts.append(judged(self._network, episode, steps, paid, discount=reward.discount, trace=reward.trace))
            ages.append(np.full(len(steps), self._stored.age(episode, iteration)))
        order = np.concatenate([np.array(places[number]) for number in sorted(places)])
        return Judged.joined(parts), np.concatenate(ages), order

    def told(self) -> dict[str, float]:
        """Return what is to be logged of the latest samples, of all processes."""
        steps, ages, weights, cut, covered, top = np.sum(parallel.gathered(self._sums.tolist()), axis=0).tolist()
        mean = [each / steps if steps else float("nan") for each in (ages, weights, cut)]
        return {
            "replay/steps": steps,
            "replay/age": mean[0],
            "replay/weight": mean[1],
            "replay/truncated": mean[2],
            "replay/covered": covered / top if top else float("nan"),
        }

    def state(self) -> dict[str, Any]:
        """Return which episodes are stored, as plain JSON."""
        return self._stored.state()

    def load(self, state: dict[str, Any], *, partly: bool = False) -> int:
        """Go back to a state, returning and raising what `rolf_adapters.buffer.TrajectoryBuffer.load` does."""
        return self._stored.load(state, partly=partly)

    def close(self) -> None:
        """Give everything back; may be called again."""
        self._stored.close()
