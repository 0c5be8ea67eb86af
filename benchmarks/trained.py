"""Trainings as they were after some iteration, for the scripts that look at what has been learned."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from rolf_adapters.ppo import checkpoint, config

L = TypeVar("L")


def restored(run: Path, iterations: int | None, kind: str, build: Callable[..., L]) -> L:
    """Return a learner as it was after so many iterations, or at its end.

    Args:
        run: The folder that ``rolf train`` wrote.
        iterations: After how many, of which there must be a checkpoint; None: at the end.
        kind: The ``experiment.kind`` that it must be of.
        build: Makes such a learner from ``(settings, seed=...)``.
    """
    kept = checkpoint.Checkpoints(run / "checkpoints")
    try:
        found = kept.newest()[0] if iterations is None else checkpoint.read(kept.folder / f"iteration-{iterations:06d}")
    except checkpoint.CheckpointError as error:
        raise SystemExit(f"{error}; there are {', '.join(kept.names())}") from error
    if found is None:
        raise SystemExit(f"{run} holds no checkpoint; give the folder that rolf train wrote")
    there = found.config["experiment"]["kind"]
    if there != kind:
        raise SystemExit(f"{run} is a training of kind {there!r}; give one of kind {kind!r}")
    learner: Any = build(config.checked(dict(found.config)), seed=0)
    learner.load(found.state)
    return learner  # type: ignore[no-any-return]
