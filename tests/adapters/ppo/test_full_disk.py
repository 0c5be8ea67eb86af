"""A disk that is full ends a training with a line, wherever it shows first, and leaves what was there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from small_learner import small_config
from trained_files import files

from rolf_adapters.ppo.config import checked
from rolf_adapters.ppo.metrics import METRICS, TIMES, Metrics
from rolf_adapters.ppo.run import TrainingError
from rolf_adapters.ppo.train import News, train


def spoil(path: Path, by: str) -> None:
    """Have this process, which has a file open, write into another one in its place."""
    there = [each for each in Path("/proc/self/fd").iterdir() if each.is_symlink() and os.readlink(each) == str(path)]
    assert len(there) == 1
    other = os.open(by, os.O_WRONLY)
    os.dup2(other, int(there[0].name), inheritable=False)
    os.close(other)


@pytest.mark.parametrize("name", [METRICS, TIMES])
@pytest.mark.parametrize(
    ("by", "said"),
    [
        ("/dev/full", "No space left on device"),  # as soon as it is written
        ("/dev/null", "Invalid argument"),  # not before it is to be on the disk
    ],
)
def test_what_is_measured_cannot_be_written(tmp_path: Path, name: str, by: str, said: str) -> None:
    """It is told as of a checkpoint; and the same process may go on with the training, for nothing holds it."""
    out = tmp_path / "run"

    def full(news: News) -> None:
        if news.done == 3:
            spoil(out / name, by)

    with pytest.raises(TrainingError, match=rf"run' cannot be written: {said}; when it can, --resume goes on from the"):
        train(checked(small_config()), out, report=full)
    assert train(checked(small_config()), out, resume=True).iterations == 6
    train(checked(small_config()), tmp_path / "whole")
    assert files(out) == files(tmp_path / "whole")


def test_all_files_are_closed_where_one_cannot_be(tmp_path: Path) -> None:
    """What is left open stays so until the process ends. Closed again, there is nothing left to go wrong."""
    metrics = Metrics(tmp_path)
    spoil(tmp_path / METRICS, "/dev/full")
    with pytest.raises(OSError, match="No space left"):
        metrics.add({"iteration": 0}, {"own/value": 1.0})
    with pytest.raises(OSError, match="No space left"):
        metrics.close()
    opened = [os.readlink(each) for each in Path("/proc/self/fd").iterdir() if each.is_symlink()]
    assert not [each for each in opened if each.startswith(str(tmp_path))]
    metrics.close()
