"""A training that learns from stored episodes, through `rolf train`: killed, taken back, in several processes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from replaying import plain, stored
from together import ENVIRONMENT
from trained_files import files

from rolf.evaluation import atomic
from rolf_adapters.ppo.config import checked
from rolf_adapters.ppo.learner import State
from rolf_adapters.ppo.metrics import METRICS, read
from rolf_adapters.ppo.run import TrainingError
from rolf_adapters.ppo.train import train
from rolf_adapters.ppo.vector.learner import VectorLearner

SHARED = Path(__file__).parents[3] / "shared"


def killed(out: Path, kills: int, seed: int) -> list[str]:
    command = [sys.executable, str(SHARED / "killed_training.py"), str(out), str(kills), str(seed), json.dumps(plain())]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: list[str] = json.loads(done.stdout)
    assert len(found) == kills
    for each in out.parent.glob(f"{out.name}-[0-9]*"):  # done before all kills had come
        assert_whole(each, out.with_name(f"{out.name}-whole"))
    return found


def assert_whole(out: Path, whole: Path | None = None) -> None:
    """Checkpoints, curves, segments of the buffer, and what its index knows: all as in the undisturbed run."""
    whole = whole or out.with_name(f"{out.name}-whole")
    assert files(out) == files(whole)
    assert any(name.startswith("buffer/rank-0/") and data for name, data in files(out).items())
    with stored(out) as one, stored(whole) as other:
        assert one.numbers == other.numbers == range(16)
        for number in one.numbers:
            assert one.graph(number) == other.graph(number)
            np.testing.assert_array_equal(one.priorities(number), other.priorities(number))


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_three_kills_change_no_bit(tmp_path: Path) -> None:
    """SIGKILL at a random moment, a checkpoint in each iteration."""
    found = killed(tmp_path / "run", 3, seed=1)
    assert set(found) - {"none", "iteration-000000", "iteration-000008"}, "no kill came in the middle"
    assert_whole(tmp_path / "run")


@pytest.mark.nightly
@pytest.mark.timeout(1200)
def test_ten_kills_change_no_bit(tmp_path: Path) -> None:
    found = killed(tmp_path / "run", 10, seed=2)
    assert len(set(found)) > 3
    assert_whole(tmp_path / "run")


@pytest.mark.timeout(400)
def test_going_back_takes_back_what_was_stored(tmp_path: Path) -> None:
    """A gate rolls the training back, and the buffer with it."""
    config = plain()
    gate = {"measure": "replay/age", "when": "above", "value": 1.2, "then": "roll back"}
    config |= {"stages": {"gates": [gate], "rollbacks": 1}}
    with pytest.raises(TrainingError, match="has gone back 1 times"):
        train(checked(config), tmp_path / "run")
    lines = [each for each in read(tmp_path / "run" / METRICS) if "event" not in each]
    last = [each["iteration"] for each in lines if each["rollbacks"] == 0][-1]
    assert next(each["iteration"] for each in lines if each["rollbacks"] == 1) == last
    with stored(tmp_path / "run") as buffer:
        times = [buffer.episode(number).timestamp // 160 for number in buffer.numbers]
    assert times == [iteration for iteration in range(last + 1) for _ in range(2)]


class Killed(BaseException):
    """In place of a signal."""


def kill_amid_a_return(patch: pytest.MonkeyPatch, moment: str) -> None:
    """End the training amid its first return: when the buffer has gone back, or while that is written down."""
    gone: list[str] = []
    goes, renames, writes = VectorLearner.go_back, Path.rename, atomic.write

    def go_back(self: VectorLearner, state: State) -> str:
        told = goes(self, state)
        gone.append(told)
        if moment == "gone back":
            raise Killed
        return told

    def rename(self: Path, target: Path) -> Path:
        if gone and moment == "not yet whole" and target.name.endswith("-rollback-1"):
            raise Killed
        return renames(self, target)

    def write(path: Path, content: bytes) -> None:
        if gone and moment == "not yet the latest" and content.endswith(b"-rollback-1\n"):
            raise Killed
        writes(path, content)

    patch.setattr(VectorLearner, "go_back", go_back)
    patch.setattr(Path, "rename", rename)
    patch.setattr(atomic, "write", write)


@pytest.mark.timeout(400)
@pytest.mark.parametrize("keep", [1, 3])
@pytest.mark.parametrize("moment", ["gone back", "not yet whole", "not yet the latest"])
def test_a_return_that_is_killed_in_its_middle_is_made_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str, keep: int
) -> None:
    """The buffer has gone back, and the latest checkpoint of before, which was no good one, knows more episodes."""
    config = plain()
    gate = {"measure": "replay/age", "when": "above", "value": 1.2, "patience": 2, "then": "roll back"}
    config |= {"stages": {"gates": [gate], "rollbacks": 1}}
    config["logging"] |= {"checkpoints": keep}
    with pytest.raises(TrainingError, match="has gone back 1 times"):
        train(checked(config), tmp_path / "whole")

    with monkeypatch.context() as patched:
        kill_amid_a_return(patched, moment)
        with pytest.raises(Killed):
            train(checked(config), tmp_path / "parts")
    with pytest.raises(TrainingError, match="has gone back 1 times"):
        train(checked(config), tmp_path / "parts", resume=True)
    assert files(tmp_path / "parts") == files(tmp_path / "whole")


@pytest.mark.timeout(400)
def test_going_back_goes_on_with_what_is_left_of_what_was_stored(tmp_path: Path) -> None:
    """The last good checkpoint may be older than all that a full buffer keeps: said in a line, and no error."""
    config = plain(capacity=4, rows=4)
    config["training"] |= {"iterations": 12}
    config["logging"] |= {"checkpoints": 1}
    gate = {"measure": "replay/age", "when": "above", "value": 1.2, "patience": 10, "then": "roll back"}
    config |= {"stages": {"gates": [gate], "rollbacks": 1}}
    said: list[str] = []
    train(checked(config), tmp_path / "run", report=lambda news: said.append(news.message))
    told = [each for each in said if "dropped since" in each]
    assert told == [
        "8 episodes that were stored then have been dropped since; it goes on with what is left of them; a larger "
        "training.replay.capacity keeps more"
    ]
    lines = [each for each in read(tmp_path / "run" / METRICS) if "event" not in each]
    steps = [each["replay/steps"] for each in lines if each["rollbacks"] == 1]
    assert steps == [0, *[107] * 9]
    with stored(tmp_path / "run") as buffer:
        times = [buffer.episode(number).timestamp // 160 for number in buffer.numbers]
        assert buffer.verify() == []
    assert times == [number // 4 for number in buffer.numbers]


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_each_of_two_processes_stores_for_itself_and_goes_on(tmp_path: Path) -> None:
    """Stopped after three iterations and continued, it comes to what it comes to in one go."""
    config = plain()
    config |= {"cluster": {"processes": 2}}
    config["training"]["evaluate_every"] = 1  # the last iteration of a part is evaluated in any case
    config["training"]["distillation"] |= {"every": 2, "count": 2, "attempts": 2}
    (tmp_path / "two.yaml").write_text(checked(config).text())
    for name, iterations in (("whole", (5,)), ("parts", (3, 5))):
        for count in iterations:
            call = ["train", str(tmp_path / "two.yaml"), "--out", str(tmp_path / name), "--json"]
            call += ["--set", f"training.iterations={count}", *(["--resume"] if count != iterations[0] else [])]
            code = "from rolf.cli import main; main(prog_name='rolf')"
            done = subprocess.run([sys.executable, "-c", code, *call], capture_output=True, text=True, env=ENVIRONMENT)
            assert done.returncode == 0, done.stderr
    told = files(tmp_path / "whole")
    assert [name for name in told if name.startswith("buffer/rank-1/") and told[name]]
    parts = files(tmp_path / "parts")
    differ = {name for name in told if told[name] != parts.get(name)}
    assert differ <= {"checkpoints/iteration-000003/manifest.json"}
    lines = read(tmp_path / "whole" / METRICS)
    assert [line["replay/steps"] for line in lines] == [0, 106, 106, 106, 106]
    assert ["own/hard_variants" in line for line in lines] == [False, True, False, True, False]
