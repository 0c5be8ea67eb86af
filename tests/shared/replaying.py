"""Trainings on a short line that learn from stored episodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rolf_adapters.buffer import TrajectoryBuffer
from rolf_adapters.ppo.vector.settings import Environment, Policy, Replay, Rollout, Settings, Training

LINE = "linegym:LineEnv-v1"


def line(**replay: Any) -> Settings:
    return Settings(
        environment=Environment(id=LINE, kwargs={"max_episode_steps": 40, "ticks_per_step": 5}, split="line-v1/fit"),
        rollout=Rollout(rows=4, steps=40, statistics=20, evaluation_rows=2),
        policy=Policy(width=16, layout="line", period=40.0),
        training=Training(iterations=6, learning_rate=3e-3, replay=Replay(**{"share": 0.4, "rows": 2} | replay)),
    )


def stored(folder: Path) -> TrajectoryBuffer:
    return TrajectoryBuffer(folder / "buffer" / "rank-0", readonly=True)


def plain(**replay: Any) -> dict[str, Any]:
    """Return one as `rolf train` reads it."""
    told = line(**replay).model_dump(mode="json")
    told["training"] |= {"iterations": 8, "evaluate_every": 0}
    return told | {
        "experiment": {"kind": "vector"},
        "logging": {"checkpoint_every": 1, "checkpoints": 2, "tensorboard": False},
    }
