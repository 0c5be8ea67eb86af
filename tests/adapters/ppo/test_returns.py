"""A training goes back to where nothing had gone wrong yet, and to the same place whatever has stopped it before."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_learner import small_config

from rolf_adapters.ppo.config import checked
from rolf_adapters.ppo.metrics import METRICS, read
from rolf_adapters.ppo.run import TrainingError
from rolf_adapters.ppo.train import train


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
