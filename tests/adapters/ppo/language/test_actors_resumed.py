"""`rolf train` with actors: stopped, killed and gone on with, as without them; and nothing of Ray is left behind."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import torch
from safetensors.torch import load_file
from together import ENVIRONMENT

from rolf_adapters.ppo.config import read
from rolf_adapters.ppo.train import train

CONFIG = """\
experiment: {kind: language, seed: 4}
environment: {id: "file_tasks:FileTasks-v0"}
rollout: {episodes: 4, environments: 2, turns: 2, tokens: 8, window: 256, evaluation: 2, speech: {system: ""}}
reward: {limit_ends: true, per_turn: -0.02}
policy: {model: "file_tasks:tiny", layers: 1}
training: {iterations: 12, learning_rate: 1.0e-3, evaluate_every: 4}
logging: {checkpoint_every: 1, tensorboard: false}
"""
ROLF = "from rolf.cli import main; main(prog_name='rolf')"
COMMAND = [sys.executable, "-c", ROLF, "train", "c.yaml", "--out", "there", "--set", "rollout.actors=1"]
SOCKET = re.compile(r"--raylet_socket_name=(/tmp/ray-[^/]+)/")
PATIENCE = 300.0
"""Until what should come about has come about [s]."""
GONE = 120.0
"""How long what was killed may take to be gone [s]: some of Ray's look after each other only now and then."""


def begun(folder: Path, *more: str) -> subprocess.Popen[str]:
    """Start a training in a group of its own, as a shell does."""
    command = [*COMMAND, *more]
    return subprocess.Popen(
        command, cwd=folder, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def iterations(folder: Path) -> int:
    """Return how many a checkpoint was written after."""
    latest = folder / "there" / "checkpoints" / "LATEST"
    return int(latest.read_text().strip().rpartition("-")[2]) if latest.exists() else 0


def come_beyond(folder: Path, training: subprocess.Popen[str], done: int) -> None:
    """Wait until a training has come further."""
    end = time.monotonic() + PATIENCE
    while iterations(folder) <= done:
        assert training.poll() is None, training.communicate()[1]
        assert time.monotonic() < end, "it does not begin"
        time.sleep(0.02)


def family(training: subprocess.Popen[str]) -> list[psutil.Process]:
    """Return the processes that a training has started: Ray's, actors, terminals."""
    found = psutil.Process(training.pid).children(recursive=True)
    assert any("raylet" in each.name() for each in found)
    return found


def left(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Return those that are still there when they have had time to go."""
    return psutil.wait_procs(processes, timeout=GONE)[1]


def lasting(folder: Path) -> list[dict[str, float]]:
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{name: value for name, value in line.items() if name != "rollout/replayed"} for line in lines]


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_a_terminal_interrupts_all_of_it_at_once(tmp_path: Path) -> None:
    """^C reaches Ray's processes and the actors, too, which have to live until the iteration is done."""
    (tmp_path / "c.yaml").write_text(CONFIG)
    training = begun(tmp_path)
    come_beyond(tmp_path, training, 0)
    before = family(training)
    os.killpg(training.pid, signal.SIGINT)
    said = training.communicate()[1]
    assert training.returncode == 130, said
    assert "stopped; --resume goes on from here" in said
    assert "Traceback" not in said
    assert not left(before)


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_goes_on_to_the_bits_of_a_training_without_actors(tmp_path: Path) -> None:
    """SIGTERM ends it after the iteration, kill -9 at once; either way it goes on, and Ray is gone."""
    (tmp_path / "c.yaml").write_text(CONFIG)
    one = begun(tmp_path)
    come_beyond(tmp_path, one, 0)
    before = family(one)
    one.send_signal(signal.SIGTERM)
    said = one.communicate()[1]
    assert one.returncode == 130, said
    assert "stopping after this iteration, with a checkpoint" in said
    assert "stopped; --resume goes on from here" in said
    assert not left(before)

    stopped = iterations(tmp_path)
    two = begun(tmp_path, "--resume")
    come_beyond(tmp_path, two, stopped)
    before = family(two)
    folders = {found[1] for each in before if (found := SOCKET.search(" ".join(each.cmdline())))}
    two.kill()
    two.communicate()
    assert not left(before)
    for each in folders:  # who is killed tidies up nothing
        shutil.rmtree(each)

    three = begun(tmp_path, "--resume")
    said = three.communicate()[1]
    assert three.returncode == 0, said
    train(read(tmp_path / "c.yaml"), tmp_path / "here")
    assert lasting(tmp_path / "there") == lasting(tmp_path / "here")
    last = "checkpoints/iteration-000012/state.safetensors"
    there, here = (load_file(tmp_path / name / last) for name in ("there", "here"))
    assert there.keys() == here.keys()
    assert all(torch.equal(each, here[name]) for name, each in there.items())
