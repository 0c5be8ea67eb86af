"""A training goes back to where nothing had gone wrong yet, and to the same place whatever has stopped it before."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from small_learner import SmallLearner, small_config
from trained_files import files

from rolf_adapters.ppo.checkpoint import Checkpoints
from rolf_adapters.ppo.checkpoint import read as read_checkpoint
from rolf_adapters.ppo.config import checked
from rolf_adapters.ppo.metrics import METRICS, read
from rolf_adapters.ppo.run import TrainingError
from rolf_adapters.ppo.train import News, train

WRONG_AT_FIVE = {"measure": "own/later", "when": "above", "value": 0.5, "then": "roll back"}
"""A gate that closes in iteration 5, as long as the training has not gone back; see `goes_wrong_once`."""


@pytest.fixture
def goes_wrong_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the learner measure in iteration 5 that something is wrong, unless its rate is smaller than at first."""
    iterate = SmallLearner.iterate

    def wrong(self: SmallLearner, iteration: int) -> Mapping[str, float]:
        seen = iterate(self, iteration)
        return {**seen, "own/later": float(iteration == 5 and self._settings.training.learning_rate == 0.01)}

    monkeypatch.setattr(SmallLearner, "iterate", wrong)


def going_wrong(**changes: Any) -> dict[str, Any]:
    usual = {"training__iterations": 9, "training__evaluate_every": 1, "logging__checkpoint_every": 4}
    return small_config(stages__gates=[WRONG_AT_FIVE], **(usual | changes))


def events(out: Path) -> list[str]:
    return [line["event"].partition(":")[0] for line in read(out / METRICS) if "event" in line]


@pytest.mark.usefixtures("goes_wrong_once")
@pytest.mark.parametrize("by", ["^C", "its end"])
def test_goes_back_to_where_an_undisturbed_training_does(tmp_path: Path, by: str) -> None:
    """Not to the checkpoint that ^C has written, nor to that of the end of a training that is then made longer."""

    def interrupt(news: News) -> None:
        if by == "^C" and news.done == 4:
            os.kill(os.getpid(), signal.SIGINT)

    train(checked(going_wrong()), tmp_path / "whole")
    assert events(tmp_path / "whole") == ["back to iteration 4"]
    parts = tmp_path / "parts"
    first = going_wrong() if by == "^C" else going_wrong(training__iterations=5)
    assert train(checked(first), parts, report=interrupt).iterations == 5
    assert train(checked(going_wrong()), parts, resume=True).iterations == 9
    assert (parts / METRICS).read_text() == (tmp_path / "whole" / METRICS).read_text()
    found, expected = files(parts), files(tmp_path / "whole")
    assert {name for name in found if name not in expected or found[name] != expected[name]} <= {
        name for name in found if name.startswith("checkpoints/iteration-000005/")
    }


def test_a_return_that_was_killed_is_gone_back_to_as_any_other(tmp_path: Path) -> None:
    """Also where it is off the schedule, since the training goes on with checkpoints at other times."""
    train(checked(going_wrong(training__iterations=5)), tmp_path)
    checkpoints = Checkpoints(tmp_path / "checkpoints")
    four = read_checkpoint(checkpoints.folder / "iteration-000004")
    begun = checkpoints.save(replace(four, rollbacks=1, progress={**four.progress, "back": True}))
    assert begun.path.name == "iteration-000004-rollback-1-begun"
    train(checked(going_wrong(training__iterations=5, logging__checkpoint_every=3)), tmp_path, resume=True)
    assert checkpoints.newest()[0].name == "iteration-000005-rollback-1"
    assert checkpoints.last_good()[0].name == "iteration-000004-rollback-1"


def test_a_stall_goes_back_to_before_it_and_plays_on_from_there(tmp_path: Path) -> None:
    """Each return has as many iterations as the gate has patience; from within the stall it would close again at once.

    What is measured is never better by so much, so only the first measurement is a best one.
    """
    stalls = {"measure": "rollout/return", "when": "stalls", "value": 1e6, "patience": 3, "then": "roll back"}
    config = small_config(training__iterations=20, stages__gates=[stalls], logging__checkpoint_every=1)
    with pytest.raises(TrainingError, match=r"not better by more than 1e.06 3 times in a row; the training has gone"):
        train(checked(config), tmp_path)
    lines = read(tmp_path / METRICS)
    assert [line["event"][:20] for line in lines if "event" in line] == ["back to iteration 1:"] * 3
    for rollbacks, first in ((0, 0), (1, 1), (2, 1), (3, 1)):
        played = [line["iteration"] for line in lines if line["rollbacks"] == rollbacks and "event" not in line]
        assert played == list(range(first, 4))
