"""Batch: a block of episodes that an environment plays together, and the file that they are written to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from rolf.evaluation.errors import EvaluationError, PolicyError
from rolf.evaluation.evaluable import Batched
from rolf.evaluation.loading import told
from rolf.evaluation.recording import read_block, write_block
from rolf.evaluation.single import Played, stop_if_full
from rolf.variant import Variant


def play_block(
    environment: Batched, player: Any, variants: Sequence[Variant], seeds: Sequence[int], path: Path, where: str
) -> list[Played]:
    """Play an episode of each variant and write all of them to one file.

    Args:
        environment: Plays them.
        player: Who acts.
        variants: One an episode.
        seeds: What ``reset`` would be given.
        path: The trajectories, compressed; what is there is replaced.
        where: What errors call the block.

    Raises:
        PolicyError: the policy raised an error, or acted outside of the action space.
        EvaluationError: the environment raised an error that no machine is to blame for, or the disk is full.
    """
    try:
        runs = environment.play(player, variants, seeds)
    except PolicyError as error:
        raise PolicyError(f"the policy failed in {where}, {error}") from error
    except (Exception, SystemExit) as error:
        callers = _callers(player, error.__traceback__)
        if callers is not None:
            raise PolicyError(f"the policy failed in {where}: {told(error, callers)}") from error
        if not isinstance(error, (RuntimeError, OSError, MemoryError)):
            raise EvaluationError(f"{variants[0].env_id} could not play {where}: {told(error)}") from error
        stop_if_full(error, where)
        return [Played(None, f"{type(error).__name__}: {error}", 0.0)] * len(variants)
    if len(runs) != len(variants):
        raise EvaluationError(f"{variants[0].env_id} made {len(runs)} episodes of the {len(variants)} in {where}")
    try:
        write_block(path, zip(variants, seeds, runs, strict=True))
    except OSError as error:
        stop_if_full(error, where)
        raise EvaluationError(f"{str(path)!r} cannot be written: {error}") from error
    recorded = [each for _, each in read_block(path)]
    return [Played(each, "", run.seconds) for each, run in zip(recorded, runs, strict=True)]


def _callers(player: Any, traceback: TracebackType | None) -> int | None:
    """Return how many calls led to the method of the policy that an error came from; None: it came from none."""
    count = 0
    while traceback is not None:
        if traceback.tb_frame.f_locals.get("self") is player:
            return count
        traceback, count = traceback.tb_next, count + 1
    return None
