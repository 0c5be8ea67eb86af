"""Playing: units of an evaluation as work for processes, and the rows that episodes come to."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from rolf.evaluation.batch import play_block
from rolf.evaluation.episode import Episode
from rolf.evaluation.errors import EvaluationError
from rolf.evaluation.evaluable import Attributable, Batched
from rolf.evaluation.loading import Spec, load
from rolf.evaluation.malformed import malformed_steps
from rolf.evaluation.origin import measure, origin
from rolf.evaluation.single import Played, play
from rolf.evaluation.unit import Place, Unit
from rolf.variant import Split, names

Answer = tuple[Episode, ...] | EvaluationError
"""Rows, or why the evaluation cannot go on."""


@dataclass(frozen=True, slots=True)
class Playing:
    """The units of an evaluation as work (``rolf.jobs.Work``)."""

    split: Split
    policy: Spec
    folder: Path
    """Where trajectories go."""
    attribute: bool
    """Whether what failures come from is asked for."""
    privileged: bool
    """Whether the policy is shown all of ``info``."""
    player: Any = None
    """The policy where it is made already, which may take minutes; None: each process makes its own."""

    @contextmanager
    def open(self) -> Iterator[Callable[[Unit], Answer]]:
        """Give what plays a unit with the policy; what that prints is talk and no result."""
        with redirect_stdout(sys.stderr):
            yield partial(self._answer, load(self.policy) if self.player is None else self.player)

    def lost(self, unit: Unit, seconds: float, end: str) -> Answer:
        """Return the rows of episodes whose process has died: nothing is known of them."""
        lost = Played(None, f"the process that played it {end}", seconds / len(unit.places))
        return tuple(self._row(place, lost, "") for place in unit.places)

    def _answer(self, player: Any, unit: Unit) -> Answer:
        try:
            rows = self._block(player, unit) if unit.batched else [self._alone(player, unit)]
            return tuple(self._attributed(player, rows) if self.attribute else rows)
        except EvaluationError as error:
            return error

    def _alone(self, player: Any, unit: Unit) -> Episode:
        (place,) = unit.places
        path, where = self.folder / unit.trajectory, self._where(unit)
        variant = self.split.variants[place[0]]
        played = play(variant, place[1], player, privileged=self.privileged, path=path, where=where)
        return self._row(place, played, unit.trajectory)

    def _block(self, player: Any, unit: Unit) -> list[Episode]:
        variants = [self.split.variants[index] for index, _ in unit.places]
        seeds = [self.split.variants[index].attempt_seed(attempt) for index, attempt in unit.places]
        environment = origin(variants[0].env_id)
        assert isinstance(environment, Batched)
        path, where = self.folder / unit.trajectory, self._where(unit)
        block = play_block(environment, player, variants, seeds, path, where)
        numbered = zip(unit.places, block, strict=True)
        return [
            self._row(place, played, f"{unit.trajectory}#{line}") for line, (place, played) in enumerate(numbered, 1)
        ]

    def _where(self, unit: Unit) -> str:
        (index, attempt), (last, _) = unit.places[0], unit.places[-1]
        if unit.batched:
            return f"{self.split.name}, variants {index} to {last} together"
        return f"{self.split.name}, variant {index} ({names([self.split.variants[index]])[0]}), attempt {attempt}"

    def _row(self, place: Place, played: Played, trajectory: str) -> Episode:
        index, attempt = place
        variant, recorded = self.split.variants[index], played.recorded
        known = Episode(
            index=index,
            variant=names([variant])[0],
            attempt=attempt,
            seed=variant.attempt_seed(attempt),
            steps=0,
            episode_return=0.0,
            success=None,
            score=None,
            fault=played.fault,
            measures={},
            state_digest="",
            trajectory="",
            trajectory_digest="",
            seconds=round(played.seconds, 6),
        )
        if recorded is None:
            return known
        known = replace(
            known,
            steps=len(recorded.actions),
            episode_return=math.fsum(recorded.ending.rewards),
            state_digest=recorded.state_digest,
            trajectory=trajectory,
            trajectory_digest=recorded.digest,
            malformed=malformed_steps(recorded),
        )
        if not played.fault:
            measured = measure(variant, recorded.ending)
            known = replace(known, fault=measured.fault, measures=dict(measured.measures))
            if not measured.fault:
                known = replace(known, success=measured.success, score=measured.score)
        _check_figures(known, variant.env_id)
        return known

    def _attributed(self, player: Any, rows: Sequence[Episode]) -> list[Episode]:
        """Return rows with what the failures among them come from."""
        failed = [row for row in rows if row.success is False]
        if not failed:
            return list(rows)
        variants = [self.split.variants[row.index] for row in failed]
        environment = origin(variants[0].env_id)
        assert isinstance(environment, Attributable)
        costs = environment.attributed(player, variants, [row.seed for row in failed])
        told = {(row.index, row.attempt): dict(cost) for row, cost in zip(failed, costs, strict=True)}
        return [replace(row, attribution=told.get((row.index, row.attempt), {})) for row in rows]


def _check_figures(row: Episode, env_id: str) -> None:
    figures = {"the return": row.episode_return, "the score": row.score or 0.0, **row.measures}
    for name, value in figures.items():
        if not math.isfinite(value):
            raise EvaluationError(
                f"{env_id} told {name} = {value} of {row.variant}, attempt {row.attempt}; expected a finite number"
            )
