"""A training's folder is all that an ONNX model of its network takes, and none is left that does not agree with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from click.testing import CliRunner, Result
from small_learner import small_config

from rolf.cli import main
from rolf.evaluation.policy import Start
from rolf.variant import Variant
from rolf_adapters.ppo.config import checked
from rolf_adapters.ppo.train import train
from rolf_adapters.ppo.vector import exporting, onnx_player
from rolf_adapters.ppo.vector.export import Checked
from rolf_adapters.ppo.vector.exporting import NoParity, exported
from rolf_adapters.ppo.vector.player import Player, player

LINE = "linegym:LineEnv-v1"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a training on lines."""
    folder = tmp_path_factory.mktemp("runs") / "line"
    plain: dict[str, Any] = {
        "experiment": {"kind": "vector"},
        "environment": {"id": LINE, "kwargs": {"max_episode_steps": 6}},
        "rollout": {"rows": 2, "steps": 6, "statistics": 6, "evaluation_rows": 1, "waits": 1},
        "policy": {"width": 8, "layout": "line-senses", "period": 200.0},
        "training": {"iterations": 1},
        "logging": {"tensorboard": False},
    }
    train(checked(plain), folder)
    return folder


def rolf_train(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["train", *map(str, arguments)])


def actions(policy: Player, steps: int) -> list[Any]:
    """Return what a policy does in a shift."""
    env = gym.make(LINE, variant="serial/rtd/profinet/bearing+sensor:3", max_episode_steps=steps)
    seen, info = env.reset(seed=3)
    policy.begin(Start(Variant(LINE, {}, 0), 0, 1, seen, info, env))
    done = []
    for _ in range(steps):
        done.append(policy.act(seen, info))
        seen, _, _, _, info = env.step(done[-1])
    env.close()
    return done


def test_the_model_plays_as_the_trained_network_does(run: Path, tmp_path: Path) -> None:
    """Step by step, waits and senses and groups of actions included."""
    found = exported(run, tmp_path / "new" / "policy.onnx")
    assert found.apart < 1e-4
    assert found.same == 1
    done = actions(onnx_player.player(str(tmp_path / "new" / "policy.onnx")), 40)
    assert done == actions(player(str(run)), 40)
    assert len({*map(int, done)}) > 1
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["policy.json", "policy.onnx"]


def test_the_file_beside_it_says_where_it_comes_from_and_what_actions_do(run: Path, tmp_path: Path) -> None:
    exported(run, tmp_path / "policy.onnx")
    about = json.loads((tmp_path / "policy.json").read_text())
    assert (about["environment"], about["iteration"], about["first_action"]) == (LINE, 1, 0)
    assert about["config"]["policy"]["layout"] == "line-senses"
    assert len(about["action_names"]) == 545
    assert len({*about["action_names"]}) == 545


def test_the_command_tells_how_it_agrees_and_how_long_an_answer_takes(run: Path, tmp_path: Path) -> None:
    done = rolf_train("--out", run, "--export", tmp_path / "policy.onnx")
    assert done.exit_code == 0, done.output
    assert "largest difference" in done.stdout
    assert "an answer, p99 [ms]" in done.stdout
    told = json.loads(rolf_train("--out", run, "--export", tmp_path / "policy.onnx", "--json").stdout)
    assert told["apart"] < 1e-4
    assert 0 < told["seconds"]["p50"] <= told["seconds"]["p99"]
    assert Path(told["model"]).exists()


def test_what_cannot_be_exported_is_said_in_a_line(run: Path, tmp_path: Path) -> None:
    """With exit code 2: there is nothing, it is no network, or not said of what."""
    for arguments, wrong in (
        (("--out", tmp_path / "none", "--export", tmp_path / "p.onnx"), "holds no checkpoint"),
        (("--export", tmp_path / "p.onnx"), "give --out"),
        (("--out", run, "--export", tmp_path / "p.pt"), "does not end in .onnx"),
        (("--out", run, "--export", tmp_path / "p.onnx", "--resume"), "nothing else"),
    ):
        done = rolf_train(*arguments)
        assert (done.exit_code, wrong in done.output) == (2, True), done.output
    train(checked(small_config(training__iterations=1)), tmp_path / "small")
    done = rolf_train("--out", tmp_path / "small", "--export", tmp_path / "p.onnx")
    assert (done.exit_code, "of kind 'small_learner', not 'vector'" in done.output) == (2, True)
    (tmp_path / "file").touch()
    done = rolf_train("--out", run, "--export", tmp_path / "file" / "p.onnx")
    assert (done.exit_code, "give --export a file that can be written" in done.output) == (1, True)
    assert not [*tmp_path.glob("*.onnx")]


@pytest.mark.parametrize("found", [Checked(0.5, 1.0, {}), Checked(0.0, 0.5, {}), Checked(float("nan"), 1.0, {})])
def test_a_model_that_does_not_agree_is_not_left(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found: Checked
) -> None:
    """Nor is the one that was there before replaced."""
    path = tmp_path / "policy.onnx"
    path.write_bytes(b"the one before")
    monkeypatch.setattr("rolf_adapters.ppo.vector.export.compared", lambda *_: found)
    with pytest.raises(NoParity, match="apart from the network by"):
        exported(run, path)
    assert [each.name for each in tmp_path.iterdir()] == ["policy.onnx"]
    assert path.read_bytes() == b"the one before"
    assert rolf_train("--out", run, "--export", path).exit_code == 1
    assert exporting.APART < 0.5


def test_a_model_with_another_file_beside_it_is_not_played(run: Path, tmp_path: Path) -> None:
    path = tmp_path / "policy.onnx"
    exported(run, path)
    with pytest.raises(ValueError, match="No such file"):
        onnx_player.player(str(tmp_path / "other.onnx"))
    env = gym.make("CartPole-v1")
    seen, info = env.reset(seed=0)
    with pytest.raises(ValueError, match=r"is for observations of 632 numbers .* has 4 and \[2\]"):
        onnx_player.player(str(path)).begin(Start(Variant("CartPole-v1", {}, 0), 0, 1, np.asarray(seen), info, env))
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(ValueError, match="tells of another model"):
        onnx_player.player(str(path))
    path.with_suffix(".json").write_text("{}")
    with pytest.raises(ValueError, match="is not what `rolf train --export` writes"):
        onnx_player.player(str(path))
