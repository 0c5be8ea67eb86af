"""Latest: what a training has come to, as its folder holds it."""

from __future__ import annotations

from pathlib import Path

from rolf_adapters.ppo import checkpoint, config
from rolf_adapters.ppo.checkpoint import Checkpoint
from rolf_adapters.ppo.vector.settings import Settings


def latest(run: str | Path) -> tuple[Settings, Checkpoint]:
    """Return the settings of a training and its latest checkpoint.

    Args:
        run: The folder that ``rolf train`` wrote.

    Raises:
        ValueError: there is no checkpoint, or it is another kind of learner's.
        CheckpointError: there are some, and none is whole.
    """
    found = checkpoint.Checkpoints(Path(run) / "checkpoints").newest()[0]
    if found is None:
        raise ValueError(f"{str(run)!r} holds no checkpoint; give the folder that rolf train wrote")
    settings = config.checked(dict(found.config))
    if not isinstance(settings, Settings):
        raise ValueError(f"{str(run)!r} is a training of kind {found.config['experiment']['kind']!r}, not 'vector'")
    return settings, found
