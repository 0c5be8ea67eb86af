"""What is exported decides as the network does, and says what it wants to be shown."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch

from rolf_adapters.ppo.vector.export import FORMAT, compared, inputs_of, schema_of, session, written
from rolf_adapters.ppo.vector.heads import UnitHead
from rolf_adapters.ppo.vector.learner import network_for
from rolf_adapters.ppo.vector.network import Network
from rolf_adapters.ppo.vector.settings import Policy


def line_network() -> Network:
    network = network_for(632, (545,), Policy(width=16, layout="line", period=200.0), 3)
    drawing = torch.Generator().manual_seed(0)
    size = network.size.features
    network.normalise_by(torch.randn(size, generator=drawing), 0.5 + torch.rand(size, generator=drawing))
    return network


@pytest.mark.parametrize(
    "network",
    [line_network(), network_for(7, (3, 4), Policy(width=16), 0)],
    ids=["line", "plain, two parts"],
)
def test_agrees_with_the_network(network: Network, tmp_path: Path) -> None:
    """In logits, values and choices, for numbers of rows that it was not exported with."""
    checked = written(network, tmp_path / "policy.onnx")
    assert checked.apart < 1e-4
    assert checked.same == 1
    assert compared(network, tmp_path / "policy.onnx", rows=5, answers=20).apart < 1e-4
    assert 0 < checked.seconds["p50"] <= checked.seconds["p90"] <= checked.seconds["p99"]


def test_impossible_actions_are_never_the_likeliest(tmp_path: Path) -> None:
    network = network_for(7, (12,), Policy(width=16), 0)
    written(network, tmp_path / "policy.onnx")
    assert inputs_of(network) == ("features", "previous", "allowed")
    allowed = np.zeros((12, 12), np.bool_)
    np.fill_diagonal(allowed, True)
    given = {"features": np.ones((12, 7), np.float32), "previous": np.zeros((12, 1), np.int64), "allowed": allowed}
    logits, _ = session(tmp_path / "policy.onnx").run(None, given)
    assert logits.argmax(axis=1).tolist() == list(range(12))


def test_the_last_layer_keeps_its_promise_in_the_model(tmp_path: Path) -> None:
    """Whatever the exporter folds: the weights that logits are made with are not negative, rows have one length."""
    network = network_for(7, (12,), Policy(width=16), 0)
    written(network, tmp_path / "policy.onnx")
    model = onnx.load(tmp_path / "policy.onnx")
    found = [onnx.numpy_helper.to_array(each) for each in model.graph.initializer]
    head = network.body.head
    assert isinstance(head, UnitHead)
    weights = [each for each in found if each.shape in ((12, 16), (16, 12))]
    assert len(weights) == 1
    weight = weights[0] if weights[0].shape == (12, 16) else weights[0].T
    if (weight < 0).any():  # not folded: the numbers before the softplus
        weight = np.logaddexp(0, weight)
        weight /= np.linalg.norm(weight, axis=1, keepdims=True)
    assert np.allclose(weight, head.weight().detach().numpy(), atol=1e-6)
    assert np.allclose(np.linalg.norm(weight, axis=1), 1, atol=1e-5)


def test_the_file_beside_it_says_what_it_wants(tmp_path: Path) -> None:
    network = network_for(7, (3, 4), Policy(width=16, period=8.0), 0)
    names = [f"part {part}, answer {answer}" for part, count in ((0, 3), (1, 4)) for answer in range(count)]
    written(network, tmp_path / "policy.onnx", action_names=names, more={"environment": "Guess"})
    told = json.loads((tmp_path / "policy.json").read_text())
    assert told["format"] == FORMAT
    assert told["schema"] == schema_of(network)
    assert told["schema"]["inputs"]["features"] == ["float32", ["rows", 7]]
    assert [*told["schema"]["inputs"]] == ["features", "time", "previous", "allowed"]
    assert told["action_names"] == names
    assert told["environment"] == "Guess"
    assert len(told["normalisation"]["mean"]) == 7
    runs = session(tmp_path / "policy.onnx")
    assert [each.name for each in runs.get_inputs()] == [*told["schema"]["inputs"]]
    other = network_for(7, (3, 5), Policy(width=16, period=8.0), 0)
    written(other, tmp_path / "other.onnx")
    assert json.loads((tmp_path / "other.json").read_text())["schema_sha256"] != told["schema_sha256"]


def test_wrong_names_are_refused(tmp_path: Path) -> None:
    network = network_for(7, (3,), Policy(width=16), 0)
    with pytest.raises(ValueError, match="2 names are given for 3 actions"):
        written(network, tmp_path / "policy.onnx", action_names=("a", "b"))
    with pytest.raises(ValueError, match=r"does not end in \.onnx"):
        written(network, tmp_path / "policy.pt")


def test_nothing_is_told_to_the_runtimes_maker(tmp_path: Path) -> None:
    """ONNX Runtime would note a number of this machine's in the home, and a session beside other temporary files."""
    env = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    env |= {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", "import rolf_adapters.ppo.vector.export"], env=env, check=True)
    assert [each.name for each in tmp_path.rglob("*") if each.name == ".ses" or "Microsoft" in each.parts] == []
