"""What the orchestrator decides is written down, with the reasons, and lasts as the rest of a training does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from trained_files import files

from rolf_adapters.ppo.checkpoint import CheckpointError
from rolf_adapters.ppo.config import checked
from rolf_adapters.ppo.train import Outcome, train
from rolf_adapters.ppo.vector.decisions import DECISIONS, Decisions


def trained(out: Path, *, iterations: int = 4, resume: bool = False, **groups: Any) -> Outcome:
    """Train on a few steps of four lines."""
    plain = {
        "experiment": {"kind": "vector"},
        "environment": {"id": "linegym:LineEnv-v1", "split": "line-v1/fit", "kwargs": {"max_episode_steps": 6}},
        "rollout": {"rows": 4, "steps": 6, "statistics": 6, "evaluation_rows": 2, "sampler": "ucb"},
        "policy": {"width": 8},
        "training": {"iterations": iterations, "evaluate_every": 0},
        "logging": {"tensorboard": False, "checkpoint_every": 2},
    }
    return train(checked(plain | groups), out, resume=resume)


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / DECISIONS).read_text().splitlines()]


def test_a_line_an_iteration_says_what_was_chosen_and_why(tmp_path: Path) -> None:
    """Four of twelve groups an iteration, each tried once before any is tried again."""
    trained(tmp_path)
    told = lines(tmp_path)
    assert [each["iteration"] for each in told] == [0, 1, 2, 3]
    assert {each["rule"] for each in told} == {"ucb"}
    assert all(sum(len(arm["variants"]) for arm in each["arms"]) == 4 for each in told)
    first = [arm for each in told[:3] for arm in each["arms"]]
    assert len({arm["arm"] for arm in first}) == 12
    assert {(arm["count"], arm["mean"], arm["score"]) for arm in first} == {(0.0, None, None)}
    assert all(arm["count"] > 0 and arm["score"] > arm["mean"] > 0 for arm in told[3]["arms"])


def test_lines_are_cut_off_where_a_training_goes_on(tmp_path: Path) -> None:
    """What was decided after the last checkpoint is decided again; torn lines go too."""
    trained(tmp_path / "whole")
    trained(tmp_path / "parts", iterations=2)
    with (tmp_path / "parts" / DECISIONS).open("ab") as file:
        file.write(b'{"iteration": 2, "of": "a run that was killed"}\n{"iteration"')
    trained(tmp_path / "parts", resume=True)
    whole, parts = files(tmp_path / "whole"), files(tmp_path / "parts")
    assert parts[DECISIONS] == whole[DECISIONS]
    assert len(lines(tmp_path / "whole")) == 4
    assert parts["checkpoints/iteration-000004/state.json"] == whole["checkpoints/iteration-000004/state.json"]


def test_lines_stay_where_a_training_goes_back(tmp_path: Path) -> None:
    """What came of them may be why it went wrong."""
    gates = [{"measure": "rollout/length", "when": "above", "value": 1, "after": 2, "then": "roll back"}]
    with pytest.raises(RuntimeError, match="has gone back 1 times"):
        trained(tmp_path, stages={"rollbacks": 1, "gates": gates})
    assert [each["iteration"] for each in lines(tmp_path)] == [0, 1, 2, 2]


def test_a_file_that_lacks_lines_is_an_error(tmp_path: Path) -> None:
    trained(tmp_path, iterations=2)
    (tmp_path / DECISIONS).write_bytes(b"")
    with pytest.raises(CheckpointError, match=r"decisions\.jsonl' has 0 whole lines of 2 .*put the file back"):
        trained(tmp_path, iterations=3, resume=True)


def test_a_training_that_chooses_evenly_writes_none(tmp_path: Path) -> None:
    trained(tmp_path, iterations=1, rollout={"rows": 2, "steps": 6, "statistics": 6, "evaluation_rows": 2})
    assert not (tmp_path / DECISIONS).exists()


def test_only_the_first_process_writes_and_all_count(tmp_path: Path) -> None:
    """Their states must be equal."""
    first, other = Decisions(tmp_path, writes=True), Decisions(tmp_path, writes=False)
    for each in (first, other):
        each.add(0, {"rule": "ucb"})
    assert (first.sync(), other.sync()) == (1, 1)
    first.close()
    first.close()
    assert lines(tmp_path) == [{"iteration": 0, "rule": "ucb"}]
