"""Collector: play many rows for so many steps, and keep all that an update needs, in arrays allotted beforehand."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from rolf_adapters.ppo.soundness import see_observations, see_rewards
from rolf_adapters.ppo.vector.asking import check_asked
from rolf_adapters.ppo.vector.choice import chance_of, drawn, likeliest, log_chances, uncertainty
from rolf_adapters.ppo.vector.features import Features
from rolf_adapters.ppo.vector.infos import masks, told
from rolf_adapters.ppo.vector.layout import Layout
from rolf_adapters.ppo.vector.network import Network, Seen
from rolf_adapters.ppo.vector.teacher import Teacher

Flags = NDArray[np.bool_]


class Episode(NamedTuple):
    """An episode that has ended."""

    row: int
    variant: str
    """What ``info["variant_id"]`` called it as it began, or where that told none as it ended; else empty."""
    total: float
    """Sum of its rewards."""
    length: int
    success: float
    """``info["success"]`` of its last step; NaN where none is told."""
    entropy: float
    """Mean over its steps."""


@dataclass
class Collected:
    """Steps of all rows, (steps, rows, …) each."""

    features: NDArray[np.float32]
    words: NDArray[np.bool_]
    time: NDArray[np.float32]
    previous: NDArray[np.int64]
    allowed: Flags
    actions: NDArray[np.int64]
    taught: NDArray[np.int64]
    """What the teacher would have done; 0 without one."""
    logps: NDArray[np.float32]
    values: NDArray[np.float32]
    entropies: NDArray[np.float32]
    rewards: NDArray[np.float64]
    terminated: Flags
    truncated: Flags
    finals: NDArray[np.float32]
    """Value of the final observation, where truncated."""
    phases: NDArray[np.int64]
    last: NDArray[np.float32]
    """(rows,) value after the last step"""
    after: NDArray[np.float32]
    """(rows, …) features after the last step"""
    episodes: list[Episode] = field(default_factory=list)
    seconds: float = 0.0
    """Time that the environment took [s]."""

    @classmethod
    def allotted(cls, steps: int, rows: int, features: int, words: int, parts: tuple[int, ...]) -> Collected:
        """Return arrays for so many steps and rows."""
        shape = (steps, rows)

        def made(kind: Any, *more: int) -> NDArray[Any]:
            return np.zeros((*shape, *more), kind)

        return cls(
            features=made(np.float32, features),
            words=made(np.bool_, words),
            time=made(np.float32),
            previous=made(np.int64, len(parts)),
            allowed=made(np.bool_, sum(parts)),
            actions=made(np.int64, len(parts)),
            taught=made(np.int64, len(parts)),
            logps=made(np.float32),
            values=made(np.float32),
            entropies=made(np.float32),
            rewards=made(np.float64),
            terminated=made(np.bool_),
            truncated=made(np.bool_),
            finals=made(np.float32),
            phases=made(np.int64),
            last=np.zeros(rows, np.float32),
            after=np.zeros((rows, features), np.float32),
        )


@dataclass(frozen=True, slots=True)
class Telling:
    """Where ``info`` tells what."""

    mask: str
    phase: str


class Watcher(Protocol):
    """Sees what is played, step by step."""

    def begin(self, rows: Flags, observations: NDArray[np.float32], infos: Mapping[str, Any]) -> None:
        """See that episodes have begun in some rows; arguments are of all rows, and belong to the collector."""

    def step(self, actions: Any, seen: Seen, observations: NDArray[np.float32], infos: Mapping[str, Any]) -> None:
        """See what the environment was given, and what came of it, before rows that have ended begin anew."""


class Collector:
    """Plays the rows of a vector environment that resets nothing by itself (``AutoresetMode.DISABLED``).

    Args:
        envs: The environment, observations as flat arrays.
        parts: Actions of each part of an action.
        discrete: Whether an action is a number and no array.
        layout: Of the observation.
        telling: Where ``info`` tells masks and phases.
        first_action: What the environment calls its action 0.
        waits: Steps after each decision in which action 0 is taken.
    """

    def __init__(
        self,
        envs: Any,
        parts: tuple[int, ...],
        discrete: bool,
        layout: Layout | None,
        telling: Telling,
        first_action: int = 0,
        waits: int = 0,
    ) -> None:
        self.envs = envs
        self.parts = parts
        self.rows = int(envs.num_envs)
        self.layout = layout
        self._discrete = discrete
        self._first = first_action
        self.waits = waits
        self._telling = telling
        self._kept: Collected | None = None

    def collect(
        self,
        network: Network,
        steps: int,
        seeds: Sequence[int],
        *,
        options: Mapping[str, Any] | None = None,
        generator: torch.Generator | None = None,
        teacher: Teacher | None = None,
        guided: Flags | None = None,
        once: bool = False,
        watcher: Watcher | None = None,
    ) -> Collected:
        """Begin an episode in every row and play so many steps; a row that ends goes on with its next episode.

        Args:
            network: Decides.
            steps: Of each row.
            seeds: Of each row.
            options: For the first reset; ``variants`` in it, one a row, is what all of the row's episodes must be of.
            generator: Of the random numbers that actions are drawn by; None: the likeliest are taken.
            teacher: Is asked in every step what it would do.
            guided: Rows in which that is done as well.
            once: Play until every row has ended an episode, and keep nothing but the episodes; ``steps`` are the most.
            watcher: Sees all of it.

        Returns:
            What was played; the arrays are overwritten by the next call.

        Raises:
            UnknownVariant: the environment plays other variants than those it was asked for, or does not tell.
        """
        run = _Run(self, network, generator, teacher, guided, watcher)
        kept = self._room(1 if once else steps, run.features)
        kept.episodes, kept.seconds = [], 0.0
        run.begin(seeds, options)
        ended = np.zeros(self.rows, np.bool_)
        with torch.inference_mode():
            for step in range(steps):
                over = run.step(kept, 0 if once else step)
                ended |= over
                if once and ended.all():
                    break
                if over.any() and step + 1 < steps:
                    run.renew(over)
            kept.last[:] = run.values()
        kept.after[:] = run.shown
        return kept

    def try_variants(self, seeds: Sequence[int], variants: Sequence[str]) -> None:
        """Begin an episode of a variant in every row, only to see whether the environment does as it is asked.

        Raises:
            UnknownVariant: it does not.
        """
        _, infos = self.envs.reset(seed=[*seeds], options={"variants": [*variants]})
        check_asked(variants, self.variants_in(infos), np.ones(self.rows, np.bool_))

    def variants_in(self, infos: Mapping[str, Any]) -> NDArray[np.object_]:
        """Return which variant each row plays, as ``info`` tells; empty where it does not."""
        return told(infos, "variant_id", np.full(self.rows, "", dtype=object))

    def _room(self, steps: int, features: Features) -> Collected:
        if self._kept is None or len(self._kept.rewards) != steps:
            self._kept = Collected.allotted(steps, self.rows, features.size, features.words.shape[1], self.parts)
        return self._kept

    def actions_for(self, actions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return actions (rows, parts) as the environment takes them."""
        return actions[:, 0] + self._first if self._discrete else actions

    def parts_of(self, actions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return actions as the environment takes them in parts, (rows, parts)."""
        return np.asarray(actions, np.int64).reshape(self.rows, len(self.parts)) - self._first

    @property
    def telling(self) -> Telling:
        """Where ``info`` tells what."""
        return self._telling


class _Run:
    """One call of `Collector.collect`: where every row is."""

    def __init__(
        self,
        collector: Collector,
        network: Network,
        generator: torch.Generator | None,
        teacher: Teacher | None,
        guided: Flags | None,
        watcher: Watcher | None,
    ) -> None:
        rows, parts = collector.rows, collector.parts
        self.collector = collector
        self.network = network
        self.generator = generator
        self.teacher = teacher
        self.watcher = watcher
        self.guided = guided if guided is not None and guided.any() else None
        self.features = Features(rows, network.size.observation, collector.layout)
        self.shown = np.zeros((rows, self.features.size), np.float32)
        self.allowed = np.ones((rows, sum(parts)), np.bool_)
        self.phases = np.zeros(rows, np.int64)
        self.previous = np.zeros((rows, len(parts)), np.int64)
        self.observations = np.zeros((rows, network.size.observation), np.float32)
        self.infos: dict[str, Any] = {}
        self.asked: Sequence[str] = ()
        """Variant that each row must play; empty: the environment chooses."""
        self.names = np.full(rows, "", dtype=object)
        """Variant that each row told as its episode began."""
        self.totals, self.lengths, self.doubts = np.zeros(rows), np.zeros(rows, np.int64), np.zeros(rows)

    def begin(self, seeds: Sequence[int], options: Mapping[str, Any] | None) -> None:
        """Begin an episode in every row."""
        self.asked = (options or {}).get("variants", ())
        observations, infos = self.collector.envs.reset(seed=[*seeds], options=dict(options) if options else None)
        self._took(observations, infos, np.ones(self.collector.rows, np.bool_))

    def renew(self, rows: Flags) -> None:
        """Begin the next episode in these rows."""
        observations, infos = self.collector.envs.reset(options={"reset_mask": rows})
        self._took(observations, infos, rows)

    def _took(self, observations: Any, infos: dict[str, Any], rows: Flags) -> None:
        names = self.collector.variants_in(infos)
        if self.asked:
            check_asked(self.asked, names, rows)
        self.names[rows] = names[rows]
        self.observations[rows] = np.asarray(observations, np.float32)[rows]
        see_observations(self.collector.envs, self.observations, rows, "after a reset")
        self.previous[rows] = 0
        self.totals[rows], self.lengths[rows], self.doubts[rows] = 0, 0, 0
        self._note(infos, rows)
        self.shown = self.features.begin(self.observations, rows, infos)
        if self.teacher is not None:
            self.teacher.begin(self.collector.envs, rows)
        if self.watcher is not None:
            self.watcher.begin(rows, self.observations, self.infos)

    def _note(self, infos: dict[str, Any], rows: Flags) -> None:
        """Note what is told of these rows."""
        self.infos = infos
        telling = self.collector.telling
        allowed = masks(infos, telling.mask, *self.allowed.shape)
        phases = told(infos, telling.phase, np.zeros(len(rows), np.int64))
        self.allowed = np.where(rows[:, None], allowed, self.allowed)
        self.phases = np.where(rows, phases, self.phases)

    def seen(self) -> Seen:
        """Return what the network is shown."""
        return Seen(
            torch.from_numpy(self.shown),
            torch.from_numpy(self.features.words),
            torch.from_numpy(self.features.time),
            torch.from_numpy(self.previous),
            torch.from_numpy(self.allowed),
        )

    def values(self) -> NDArray[np.float32]:
        """Return what the critic says of every row."""
        found: NDArray[np.float32] = self.network(self.seen())[1].numpy()
        return found

    def step(self, kept: Collected, step: int) -> Flags:
        """Decide, step and keep; return which rows have ended."""
        parts = self.collector.parts
        logits, values = self.network(self.seen())
        chances = log_chances(logits, torch.from_numpy(self.allowed), parts)
        chosen = (
            likeliest(chances, parts, self.network.groups)
            if self.generator is None
            else drawn(chances, parts, self.generator)
        )
        if self.teacher is not None:
            kept.taught[step] = self.collector.parts_of(self.teacher.act(self.observations, self.infos))
            if self.guided is not None:
                chosen = torch.where(
                    torch.from_numpy(self.guided)[:, None], torch.from_numpy(kept.taught[step]), chosen
                )
        self._keep(kept, step, chosen, values, chances)
        self._move(kept, step)
        self.previous = kept.actions[step] + 1
        self.shown = self.features.see(self.observations)
        if self.watcher is not None:
            actions = self.collector.actions_for(kept.actions[step])
            self.watcher.step(actions, self.seen(), self.observations, self.infos)
        return self._ended(kept, step)

    def _move(self, kept: Collected, step: int) -> None:
        """Do what was decided, and wait; note what came of it."""
        began = time.perf_counter()
        for number in range(1 + self.collector.waits):
            if number:
                self.features.take_in(self.observations)
            actions = np.zeros_like(kept.actions[step]) if number else kept.actions[step]
            observations, rewards, ended, cut, infos = self.collector.envs.step(self.collector.actions_for(actions))
            kept.rewards[step] = kept.rewards[step] + rewards if number else rewards
            self.observations[:] = observations
            see_rewards(self.collector.envs, rewards, self.lengths)
            see_observations(self.collector.envs, self.observations, ~np.asarray(ended), "after a step")
            if (ended | cut).any():
                break
        kept.terminated[step], kept.truncated[step] = ended, cut
        kept.seconds += time.perf_counter() - began
        self._note(infos, np.ones(self.collector.rows, np.bool_))

    def _keep(
        self, kept: Collected, step: int, chosen: torch.Tensor, values: torch.Tensor, chances: torch.Tensor
    ) -> None:
        kept.features[step], kept.words[step], kept.time[step] = self.shown, self.features.words, self.features.time
        kept.previous[step], kept.allowed[step], kept.phases[step] = self.previous, self.allowed, self.phases
        kept.actions[step], kept.values[step] = chosen.numpy(), values.numpy()
        kept.logps[step] = chance_of(chances, chosen, self.collector.parts).numpy()
        kept.entropies[step] = uncertainty(chances).numpy()
        self.doubts += kept.entropies[step]

    def _ended(self, kept: Collected, step: int) -> Flags:
        """Note the episodes that this step has ended, and what the critic says where they were cut off."""
        self.totals += kept.rewards[step]
        self.lengths += 1
        cut = kept.truncated[step] & ~kept.terminated[step]
        if cut.any():
            kept.finals[step] = np.where(cut, self.values(), 0)
        over: Flags = kept.terminated[step] | kept.truncated[step]
        if not over.any():
            return over
        names = np.where(self.names == "", self.collector.variants_in(self.infos), self.names)
        success = told(self.infos, "success", np.full(len(over), np.nan))
        for row in np.flatnonzero(over).tolist():
            kept.episodes.append(
                Episode(
                    row,
                    str(names[row]),
                    float(self.totals[row]),
                    int(self.lengths[row]),
                    float(success[row]),
                    float(self.doubts[row] / self.lengths[row]),
                )
            )
        return over
