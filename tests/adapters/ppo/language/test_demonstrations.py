"""Who shows how it is done is known before anything is played; where he cannot do it, a line says what to change."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from together import ENVIRONMENT

from rolf_adapters.ppo.config import checked
from rolf_adapters.ppo.language.demonstrations import demonstrator
from rolf_adapters.ppo.run import TrainingError
from rolf_adapters.ppo.train import train

TERMINAL = "termgym:TermEnv-v1"
COMMAND = [sys.executable, "-c", "from rolf.cli import main; main(prog_name='rolf')", "train", "mine.yaml"]
TEXT = """\
experiment: {kind: language, name: mine}
environment: {id: "termgym:TermEnv-v1"}
rollout: {window: 512}
policy: {model: "file_tasks:tiny"}
training: {iterations: 1, warm_start: {policy: orcale}}
"""


def idle(**rollout: Any) -> dict[str, Any]:
    """Return a configuration in which nobody does anything."""
    small = {"episodes": 2, "environments": 1, "turns": 1, "tokens": 4, "window": 256, "evaluation": 1}
    return {
        "experiment": {"kind": "language"},
        "environment": {"id": "file_tasks:FileTasks-v0"},
        "rollout": {**small, "speech": {"system": ""}, **rollout},
        "policy": {"model": "file_tasks:tiny"},
        "training": {"iterations": 1, "warm_start": {"policy": "termgym.policies.idle:Idle", "episodes": 2}},
        "logging": {"tensorboard": False},
    }


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("orcale", "no policy is named 'orcale'; did you mean 'oracle'?"),
        ("nowhere:Oracle", "there is no module 'nowhere' to import"),
        ("termgym.policies.oracle:Oracl", "has no 'Oracl'; did you mean 'Oracle'?"),
        ("json:JSONDecoder", "which has no begin(start) and act(observation, info)"),
        ("json:loads", "missing a required argument: 's'"),
    ],
)
def test_a_policy_that_is_not_there_is_told_with_its_key(name: str, said: str) -> None:
    """Whoever reads it has several policies in his configuration."""
    with pytest.raises(ValueError, match=f"^training.warm_start.policy={name!r}: .*{re.escape(said)}"):
        demonstrator(name, TERMINAL)


@pytest.mark.slow
def test_a_slip_in_the_policy_leaves_no_folder(tmp_path: Path) -> None:
    """The corrected command would be refused there: it holds a training already."""
    (tmp_path / "mine.yaml").write_text(TEXT)
    done = subprocess.run(COMMAND, capture_output=True, text=True, env=ENVIRONMENT, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("Error: the learner cannot be made: training.warm_start.policy='orcale': no policy is named")
    assert not (tmp_path / "runs" / "mine").exists()


def test_a_policy_that_solves_nothing_ends_the_training_in_a_line(tmp_path: Path) -> None:
    """Resumed it would solve nothing again, so nobody is told to."""
    with pytest.raises(TrainingError, match=r"solves none of 2 episodes within 1 turns.*in another --out$"):
        train(checked(idle()), tmp_path / "run")
