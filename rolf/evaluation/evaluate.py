"""Evaluate: play a policy on a split, write down every episode, and go on where an earlier run was stopped."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import closing, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium

from rolf.evaluation import rows
from rolf.evaluation.episode import Episode
from rolf.evaluation.errors import EvaluationError
from rolf.evaluation.evaluable import Attributable, Batched
from rolf.evaluation.folder import Folder
from rolf.evaluation.identity import About, Identity
from rolf.evaluation.loading import Described, Spec, check_policy, describe, load, plays_blocks
from rolf.evaluation.lock import lock
from rolf.evaluation.origin import origin
from rolf.evaluation.playing import Playing
from rolf.evaluation.unit import units
from rolf.jobs import done
from rolf.registration import registered
from rolf.variant import Split, Variant

MOST_EPISODES = 200_000


@dataclass(frozen=True, slots=True)
class Advance:
    """How far an evaluation has got."""

    episodes: int
    """In all."""
    kept: int
    """Of earlier runs."""
    new: Sequence[Episode]
    """That have just been played; empty at the beginning."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an evaluation came to."""

    submission: dict[str, Any]
    """What submission.json says."""
    episodes: Sequence[Episode]
    """In order."""
    kept: int
    """Of them, of earlier runs."""

    @property
    def valid(self) -> bool:
        """Whether few enough episodes were lost to the machine."""
        return rows.valid(self.submission["summary"]["faults"], len(self.episodes))


def evaluate(
    split: Split,
    policy: Spec,
    out: Path,
    *,
    attempts: int | None = None,
    jobs: int = 1,
    attribute: bool = False,
    about: About | None = None,
    report: Callable[[Advance], None] | None = None,
) -> Outcome:
    """Play a policy on a split.

    Args:
        split: See ``rolf.splitting.find_split``.
        policy: See ``rolf.evaluation.loading.find_policy``.
        out: The submission's folder. If a run of the same was stopped there, this one goes on.
        attempts: At each variant; None: as many as the split wants.
        jobs: Processes that play. The results do not depend on it.
        attribute: Whether to ask what failures come from, which costs further episodes.
        about: What people say of the policy.
        report: Called at the beginning, and after each unit.

    Raises:
        ValueError: there are too many episodes.
        PolicyError: the policy cannot be made, raised an error, or acted outside of the action space.
        FolderError: the folder cannot be written, or holds something else.
        EvaluationError: an environment is not here, or raised an error that no machine is to blame for.
    """
    attempts = attempts or split.attempts
    _check_split(split, attempts)
    player, described, blocks = _made(policy, {variant.env_id for variant in split.variants})
    player = player if jobs == 1 else None  # every process makes its own, and this one needs it no more
    _check_attributable(attribute, blocks)
    locked = lock(split, attempts, policy, described, attribute=attribute)
    with Folder(out, Identity(split, attempts, policy, described, about or About(), locked)) as folder:
        todo = units(split, attempts, blocks.__getitem__)
        episodes = folder.kept(todo)
        known, kept = {(row.index, row.attempt) for row in episodes}, len(episodes)
        tell = report or (lambda _: None)
        tell(Advance(attempts * len(split), kept, ()))
        left = [unit for unit in todo if unit.places[0] not in known]
        playing = Playing(split, policy, folder.trajectories, attribute, described.privileged, player)
        with closing(done(playing, left, jobs)) as answers:
            for _, answer in answers:
                if isinstance(answer, EvaluationError):
                    raise answer
                folder.add(answer)
                episodes += answer
                tell(Advance(attempts * len(split), kept, answer))
        return Outcome(folder.finish(episodes), rows.ordered(episodes), kept)


def _check_split(split: Split, attempts: int) -> None:
    """See that a split can be played here."""
    if attempts * len(split) > MOST_EPISODES:
        wrong = f"{attempts} attempts at {len(split):,} variants are {attempts * len(split):,} episodes"
        raise ValueError(f"{wrong}; at most {MOST_EPISODES:,} go into one result: take fewer attempts, or [:N] of it")
    for variant in {variant.env_id: variant for variant in split.variants}.values():
        _check_known(variant)


def _made(policy: Spec, env_ids: set[str]) -> tuple[Any, Described, dict[str, int | None]]:
    """Return a policy, what it says of itself, and in which environments it is played in blocks of how many."""
    with redirect_stdout(sys.stderr):
        player = load(policy)
        check_policy(player, policy, env_ids)
        return player, describe(player, policy), {env_id: _block(player, env_id) for env_id in env_ids}


def _check_known(variant: Variant) -> None:
    """See that an environment is registered here."""
    try:
        registered(variant.env_id)
    except (gymnasium.error.Error, ImportError) as error:
        raise EvaluationError(f"the environment {variant.env_id!r} is not known here: {error}") from error


def _block(player: Any, env_id: str) -> int | None:
    found = origin(env_id)
    return found.BLOCK if isinstance(found, Batched) and plays_blocks(player, env_id) else None


def _check_attributable(attribute: bool, blocks: dict[str, int | None]) -> None:
    for env_id, block in blocks.items() if attribute else ():
        found = origin(env_id)
        if not isinstance(found, Attributable):
            raise EvaluationError(f"{env_id} cannot tell what failures come from; leave --attribute out")
        if isinstance(found, Batched) and block is None:
            raise EvaluationError(f"{env_id} asks a policy that it plays in blocks only; leave --attribute out")
