"""A training of several processes goes on as if it had not stopped, where each of them plays ahead."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from together import ENVIRONMENT
from trained_files import files

AHEAD = """\
experiment: {kind: language}
environment: {id: "file_tasks:FileTasks-v0"}
rollout:
  {episodes: 4, environments: 2, turns: 2, tokens: 8, window: 256, evaluation: 2, speech: {system: ""}, staleness: 1}
reward: {limit_ends: true, per_turn: -0.02}
policy: {model: "file_tasks:tiny", layers: 1}
training: {iterations: 4, learning_rate: 1.0e-3, evaluate_every: 2, kl: {weight: 0.1, target: 0.01}}
"""


def train(folder: Path, out: str, *more: str) -> None:
    command = [sys.executable, "-c", "from rolf.cli import main; main(prog_name='rolf')", "train", "c.yaml"]
    settings = ("cluster.processes=2", "logging.checkpoint_every=1", "logging.tensorboard=false")
    given = [word for each in settings for word in ("--set", each)]
    done = subprocess.run(
        [*command, "--out", out, *given, *more], capture_output=True, text=True, env=ENVIRONMENT, cwd=folder
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_two_processes_go_on_as_if_they_had_not_stopped(tmp_path: Path) -> None:
    """Episodes that an older policy was to play are played by it, in each."""
    (tmp_path / "c.yaml").write_text(AHEAD)
    train(tmp_path, "whole")
    train(tmp_path, "parts", "--set", "training.iterations=2")
    train(tmp_path, "parts", "--resume")
    parts, whole = files(tmp_path / "parts"), files(tmp_path / "whole")
    assert parts.keys() == whole.keys()
    different = {name for name in parts if parts[name] != whole[name]}
    # The checkpoint that was written last by the shorter one says that this was the end.
    assert different <= {"checkpoints/iteration-000002/manifest.json"}
