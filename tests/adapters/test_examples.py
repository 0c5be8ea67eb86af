"""Every example of training runs, as a user runs it, and its closing number is right."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts import EXAMPLES, Checks, run_example

TRAINING = EXAMPLES / "training"
CHECKS: Checks = {
    "train_line.py": (
        [
            "training.iterations=2",
            "training.imitation.iterations=1",
            "rollout.rows=8",
            "rollout.steps=20",
            "rollout.statistics=20",
            "rollout.evaluation_rows=2",
            "--lines=2",
        ],
        lambda score: -5 < score < 1.5,
    ),
    "train_terminal_tiny.py": (
        [
            "training.iterations=2",
            "training.warm_start.epochs=4",
            "rollout.episodes=4",
            "rollout.evaluation=4",
            "rollout.environments=2",
        ],
        lambda success: 0 <= success <= 1,
    ),
    "train_terminal_smollm2.py": (
        [
            "training.iterations=2",
            "training.warm_start.episodes=2",
            "training.warm_start.epochs=1",
            "training.warm_start.until=null",
            "training.minibatches=1",
            "rollout.episodes=2",
            "rollout.evaluation=2",
            "rollout.environments=2",
        ],
        lambda success: 0 <= success <= 1,
    ),
    "graded_tasks.py": (["--tasks", "10"], lambda solved: solved == 1),
    "pettingzoo_line.py": (["--steps", "50"], lambda total: -60 < total < 100),
    "train_pettingzoo_line.py": (["--seed", "1"], lambda gain: 8 < gain < 50),
    "train_sb3_line.py": (["--steps", "3200"], lambda earned: -60 < earned < 100),
    "train_sb3_terminal.py": (["--steps", "256"], lambda success: 0 <= success <= 1),
    "openenv_terminal.py": (["--sessions", "2"], lambda done: done == 2),
    "train_openenv_terminal.py": (["--updates", "25", "--rounds", "6"], lambda gain: 0.15 < gain <= 1),
    "ray_pool_terminal.py": (["--episodes", "2"], lambda solved: solved == 2),
    "train_trl_terminal.py": (["--steps", "1", "--warm", "4"], lambda reward: 0 <= reward <= 1),
    "train_rllib_line.py": (["--steps", "1"], lambda learned: learned == 800),
    "train_torchrl_line.py": (["--episodes", "2"], lambda earned: -60 < earned < 100),
}
"""Example -> its arguments for a short run, and what its last line must be."""


def test_every_example_is_checked() -> None:
    """An example that nobody runs rots first."""
    assert {path.name for path in TRAINING.glob("*.py")} == set(CHECKS)


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_example_runs(name: str, tmp_path: Path) -> None:
    """A newcomer copies an example before reading a manual."""
    run_example(TRAINING / name, CHECKS, tmp_path)
