"""A training that has gone back goes on more slowly in all that it learns: it must not go the same way again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from small_learner import small_config

from rolf_adapters.ppo.config import Config, checked
from rolf_adapters.ppo.metrics import METRICS, read
from rolf_adapters.ppo.run import TrainingError
from rolf_adapters.ppo.train import train

LINE: Mapping[str, Any] = {
    "experiment": {"kind": "vector"},
    "environment": {"id": "linegym:LineEnv-v1", "kwargs": {"max_episode_steps": 10, "ticks_per_step": 5}},
    "rollout": {"rows": 2, "steps": 10, "statistics": 10, "evaluation_rows": 1},
    "policy": {"width": 8, "layout": "line"},
    "training": {
        "iterations": 1,
        "learning_rate": 1e-3,
        "imitation": {"teacher": "linegym.teaching:oracle_diagnosis", "iterations": 1, "learning_rate": 0.02},
    },
}
TERMINAL: Mapping[str, Any] = {
    "experiment": {"kind": "language"},
    "environment": {"id": "file_tasks:FileTasks-v0"},
    "rollout": {"episodes": 2, "environments": 1, "turns": 1, "tokens": 4, "window": 256, "evaluation": 1,
                "speech": {"system": ""}},
    "policy": {"model": "file_tasks:tiny", "layers": 1},
    "training": {
        "iterations": 1,
        "warm_start": {"policy": "termgym.policies.oracle:Oracle", "episodes": 2, "epochs": 2, "learning_rate": 0.02},
    },
}  # fmt: skip


def rates(config: Config) -> dict[str, float]:
    """Return all numbers of the group ``training`` whose names say that they are rates."""
    found: dict[str, float] = {}

    def look(group: Mapping[str, Any], above: str) -> None:
        for name, value in group.items():
            if isinstance(value, Mapping):
                look(value, f"{above}{name}.")
            elif name.endswith("rate"):
                found[above + name] = value

    look(config.plain()["training"], "")
    return found


@pytest.mark.parametrize(
    ("plain", "count"), [(LINE, 3), (TERMINAL, 3), (small_config(), 1)], ids=["vector", "language", "own"]
)
def test_all_rates_become_smaller(plain: Mapping[str, Any], count: int) -> None:
    """Every rate that a configuration has is among them, and nothing else changes; once around it is as it was."""
    config = checked(dict(plain))
    slower = config.slower(0.25)
    assert rates(slower) == {name: rate * 0.25 for name, rate in rates(config).items()}
    assert len(rates(config)) == count
    assert config.slower(1.0) == config
    assert slower.slower(4.0).plain() == config.plain()


def test_a_group_that_is_not_there_has_no_rate() -> None:
    """A language model without a warm start."""
    training = {"iterations": 1, "learning_rate": 1e-3}
    slower = checked({**TERMINAL, "training": training}).slower(0.5)
    assert rates(slower) == {"learning_rate": 5e-4, "critic_rate": 5e-4}
    assert slower.plain()["training"]["warm_start"] is None


@pytest.mark.parametrize(
    ("plain", "measure"), [(LINE, "policy/learning_rate"), (TERMINAL, "own/warm_loss")], ids=["vector", "language"]
)
def test_a_warm_start_that_is_gone_back_to_goes_another_way(
    tmp_path: Path, plain: Mapping[str, Any], measure: str
) -> None:
    """Of either kind: the same again would use up all returns."""
    gates = [{"measure": measure, "when": "above", "value": 0, "then": "roll back"}]
    stages = {"gates": gates, "rollbacks": 2, "slower": 0.25}
    with pytest.raises(TrainingError, match="has gone back 2 times"):
        train(checked({**plain, "stages": stages, "logging": {"tensorboard": False}}), tmp_path)
    told = [line[measure] for line in read(tmp_path / METRICS) if measure in line]
    assert len(told) == len(set(told)) == 3
    if measure == "policy/learning_rate":
        assert told == pytest.approx([0.02, 0.005, 0.00125])
