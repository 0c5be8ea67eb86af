"""Two processes started by torchrun learn what one does from the same samples."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from shared_gradients import step
from shared_updates import updated
from small_learner import small_config
from together import ENVIRONMENT, torchrun

from rolf_adapters.ppo import parallel
from rolf_adapters.ppo.checkpoint import Checkpoints
from rolf_adapters.ppo.config import checked
from rolf_adapters.ppo.metrics import METRICS, TIMES, read
from rolf_adapters.ppo.train import train


def test_alone_there_is_nothing_to_add_up() -> None:
    """A learner need not ask whether it is alone."""
    tensor = torch.tensor([1.0])
    total = parallel.summed(tensor)
    total += 1
    assert tensor.item() == 1.0, "a tensor of its own"
    assert (parallel.rank(), parallel.size(), parallel.gathered((1, 2))) == (0, 1, [[1, 2]])
    parameter = torch.ones(2, requires_grad=True)
    parallel.add_gradients([parameter])
    assert parameter.grad is None


def test_moments_are_those_of_the_population() -> None:
    """Worked out by hand: 1, 2, 6 have mean 3 and variance 14 / 3."""
    found = parallel.moments(torch.tensor([1.0, 100.0, 2.0, 6.0]), torch.tensor([True, False, True, True]))
    assert found == parallel.Moments(3, 3.0, pytest.approx(14 / 3))


def test_who_is_alone_waits_for_nobody(tmp_path: Path) -> None:
    """The part of an iteration that is spent on others is told all the same, so that curves compare."""
    train(checked(small_config(training__iterations=2)), tmp_path)
    assert [line["time/sync"] for line in read(tmp_path / TIMES)] == [0.0, 0.0]
    assert parallel.waited() == 0.0


@pytest.mark.slow
def test_two_processes_have_the_gradient_of_one(tmp_path: Path) -> None:
    """From an odd number of samples, shared out; also where only one process has a loss, or none has."""
    alone = step(7)
    told = torchrun(2, "shared_gradients.py", tmp_path, "7")
    assert [each["rank"] for each in told] == [0, 1]
    first, second = ({key: value for key, value in each.items() if key != "rank"} for each in told)
    assert first == second, "the same bits in both"
    assert first["size"] == 2
    for got, expected in zip(first["gradients"], alone["gradients"], strict=True):
        torch.testing.assert_close(torch.tensor(got), torch.tensor(expected), rtol=1e-12, atol=1e-15)
    assert first["idle"] == [True, True]
    assert first["lone"] == alone["lone"] == [[[1.0, 1.0], [1.0, 1.0]], None]
    assert first["moments"] == pytest.approx(alone["moments"], rel=1e-9)
    assert first["nothing"] == 0
    assert first["gathered"] == [{"from": 0, "text": "é"}, {"from": 1, "text": "éé"}]
    assert first["summed"] == [3, 6]


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", ["vector", "language"])
def test_two_processes_update_a_learner_as_one_does(tmp_path: Path, kind: str) -> None:
    """A whole iteration of the learners that come along, from the same episodes shared out: the same parameters."""
    alone = updated(kind)
    first, second = torchrun(2, "shared_updates.py", tmp_path, kind)
    assert (alone["size"], first["size"], second["size"]) == (1, 2, 2)
    assert first["after"] == second["after"], "the same bits in both"
    assert first["told"] == second["told"]
    moved = 0.0
    for name, expected in alone["after"].items():
        before, one, two = (torch.tensor(each) for each in (alone["before"][name], expected, first["after"][name]))
        assert torch.equal(before, torch.tensor(first["before"][name])), "both begin alike"
        torch.testing.assert_close(two, one, rtol=0, atol=1e-6)
        moved = max(moved, float((one - before).abs().max()))
    assert moved > 1e-4, "and not where they were"
    for name, expected in alone["told"].items():
        assert first["told"][name] == pytest.approx(expected, abs=1e-5, nan_ok=True), name


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_what_goes_wrong_in_one_process_is_told_by_all(tmp_path: Path) -> None:
    """One that goes back alone, or stops alone, leaves the others in a sum that nobody adds to any more."""
    first, second = torchrun(2, "shared_trouble.py", tmp_path)
    assert [told for told, _ in first] == [told for told, _ in second]
    assert all(ranks == [0, 1] for _, ranks in first + second), "and they go on together"
    *spoilt, one, two = [told for told, _ in first]
    diverged = ["Diverged", "the model's scores, or the critic's values, are no finite numbers"]
    assert spoilt == [diverged] * 4, "in playing, ahead or not, and in evaluation"
    assert one["rollout/faults"] == 1
    assert one["rollout/episodes"] == 7
    assert two[0] == "TooManyFaults"
    assert two[1].startswith("2 of 8 episodes were lost")


@pytest.mark.slow
def test_two_processes_train_as_one_does(tmp_path: Path) -> None:
    """By the command, which starts them: the same episodes, shared out, come to the same policy but for rounding."""
    config = checked(small_config(cluster__processes=2))
    (tmp_path / "two.yaml").write_text(config.text())
    call = ["train", str(tmp_path / "two.yaml"), "--out", str(tmp_path / "two"), "--json"]
    code = "from rolf.cli import main; main(prog_name='rolf')"
    done = subprocess.run([sys.executable, "-c", code, *call], capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["iterations"] == 6
    assert done.stderr.count("6 of 6 iterations, in") == 1, "only the first tells"
    train(checked(small_config()), tmp_path / "one")
    one, two = (read(tmp_path / name / METRICS) for name in ("one", "two"))
    assert [line["rollout/return"] for line in two] == [line["rollout/return"] for line in one]
    for line in read(tmp_path / "two" / TIMES):
        assert 0 < line["time/sync"] < line["time/iteration"]
    assert not any("time/" in name for line in two for name in line), "what the clock says is kept apart"
    states = [Checkpoints(tmp_path / name / "checkpoints").newest()[0].state for name in ("one", "two")]
    for name, tensor in states[0].tensors.items():
        torch.testing.assert_close(states[1].tensors[name], tensor, rtol=1e-3, atol=1e-5)
