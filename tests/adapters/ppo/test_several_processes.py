"""Several processes begin, and end, as one does: with a line, its exit code, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from together import ENVIRONMENT

TEXT = """\
experiment: {kind: small_learner, name: quick}
training: {iterations: 2, evaluate_every: 2}
logging: {checkpoint_every: 1, tensorboard: false}
cluster: {processes: 2}
"""
COMMAND = [sys.executable, "-c", "from rolf.cli import main; main(prog_name='rolf')", "train", "quick.yaml"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "quick.yaml").write_text(TEXT)
    return tmp_path


def rolf_train(folder: Path, *arguments: str) -> tuple[int, str]:
    """Return the exit code and what is said on stderr."""
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, env=ENVIRONMENT, cwd=folder)
    return done.returncode, done.stderr


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_what_cannot_begin_is_told_once_and_leaves_no_folder(folder: Path) -> None:
    """A slip in a name, which each of the processes meets."""
    found = rolf_train(folder, "--out", "bad", "--set", "environment.id=NoSuch-v0")
    assert found == (2, "Error: the learner cannot be made: Environment `NoSuch` doesn't exist.\n")
    assert [each.name for each in folder.iterdir()] == ["quick.yaml"]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_launches_leave_nothing_but_the_training(folder: Path) -> None:
    """However often it goes on; and what the first process alone meets is told as by one."""
    assert rolf_train(folder)[0] == 0
    code, said = rolf_train(folder)
    assert (code, said.count("\n")) == (1, 1)
    assert said.startswith("Error: 'runs/quick' holds a training already; --resume goes on with it")
    assert rolf_train(folder, "--resume", "--set", "training.iterations=3")[0] == 0
    there = {each.name for each in (folder / "runs" / "quick").iterdir()}
    assert there == {"checkpoints", "config.yaml", "metrics.jsonl", "times.jsonl"}


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_process_that_was_killed_is_named(folder: Path) -> None:
    """It cannot say anything itself: memory has run out, say."""
    command = [*COMMAND, "--set", "training.iterations=100000"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, cwd=folder) as started:
        assert started.stderr is not None
        while "1 of 100000 iterations" not in started.stderr.readline():
            assert started.poll() is None
        below = psutil.Process(started.pid).children(recursive=True)
        os.kill(next(each.pid for each in below if each.environ().get("RANK") == "1"), signal.SIGKILL)
        said = started.stderr.read()
    assert started.returncode != 0
    assert "process 1 of the training was ended by SIGKILL; --resume goes on from the last checkpoint" in said
