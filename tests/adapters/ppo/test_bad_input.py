"""What `rolf train` makes of what is wrong: a line that says it, an exit code, and nothing lost that was learned."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-c", "from rolf.cli import main; main(prog_name='rolf')", "train"]
TEXT = """\
experiment: {kind: vector, name: mine}
environment: {id: "mine:Mine-v0"}
rollout: {rows: 2, steps: 8, statistics: 8, evaluation_rows: 1}
training: {iterations: 2}
logging: {every: 1, checkpoint_every: 1, tensorboard: false}
"""
MINE = """\
import os
import gymnasium
from gymnasium.envs.classic_control import CartPoleEnv

class Mine(CartPoleEnv):
    steps = 0

    def step(self, action):
        Mine.steps += 1
        if Mine.steps == int(os.environ.get("DIES", "0")):
            raise RuntimeError("the plant has gone")
        observation, reward, *rest = super().step(action)
        observation[2] = float(os.environ.get("SEES", observation[2]))
        return observation, float(os.environ.get("PAYS", reward)), *rest

gymnasium.register("Mine-v0", Mine, max_episode_steps=20, disable_env_checker=True)
"""

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.yaml").write_text(TEXT)
    (tmp_path / "mine.py").write_text(MINE)
    return tmp_path


def rolf_train(
    folder: Path, *arguments: str, file: str = "mine.yaml", **variables: str
) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1"} | variables
    return subprocess.run(
        [*COMMAND, file, *arguments], capture_output=True, text=True, env=environment, cwd=folder, timeout=110
    )


def kept(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_key_that_there_is_not(folder: Path) -> None:
    """File and line, what was meant, and no folder."""
    (folder / "mine.yaml").write_text(TEXT.replace("rows: 2", "rosw: 2"))
    done = rolf_train(folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: mine.yaml:3: rollout.rosw: there is no such key; did you mean 'rows'? known")
    assert not (folder / "runs").exists()


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("environment.test_split", "line-v1/validatoin", "environment.test_split: no split is named 'line-v1/validat"),
        ("environment.score", "linegym.scores:scorre", "environment.score 'linegym.scores:scorre': 'linegym.scores'"),
        ("training.imitation.teacher", "linegym.teaching:oracel", "training.imitation.teacher 'linegym.teaching:orac"),
    ],
)  # fmt: skip
def test_a_name_with_a_slip_in_it(folder: Path, key: str, value: str, said: str) -> None:
    """Before anything is played, whatever it is only needed for later."""
    (folder / "line.yaml").write_text(TEXT.replace("mine:Mine-v0", "linegym:LineEnv-v1"))
    done = rolf_train(folder, "--set", f"{key}={value}", file="line.yaml")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"Error: the learner cannot be made: {said}")
    assert done.stderr.count("\n") == 1
    assert not (folder / "runs" / "mine").exists()


def test_imitation_of_nobody(folder: Path) -> None:
    done = rolf_train(folder, "--set", "training.imitation.iterations=1")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "Error: --set training.imitation.iterations: training.imitation: iterations=1 are to imitate a teacher, and "
        "none is named; give teacher, or iterations: 0\n"
    )
    assert not (folder / "runs").exists()


def test_a_checkpoint_that_is_cut_in_half(folder: Path) -> None:
    """The one before is used and it is said; where none is whole nothing is touched, and what to do is said."""
    assert rolf_train(folder).returncode == 0
    metrics = folder / "runs" / "mine" / "metrics.jsonl"
    before = metrics.read_bytes()
    checkpoints = sorted((folder / "runs" / "mine" / "checkpoints").glob("iteration-*/state.safetensors"))
    os.truncate(checkpoints[-1], checkpoints[-1].stat().st_size // 2)
    done = rolf_train(folder, "--resume")
    assert done.returncode == 0, done.stderr
    assert "passed over: 'runs/mine/checkpoints/iteration-000002' is not whole: state.safetensors has" in done.stderr
    assert metrics.read_bytes() == before
    for path in (folder / "runs" / "mine" / "checkpoints").glob("iteration-*/state.safetensors"):
        os.truncate(path, path.stat().st_size // 2)
    before = kept(folder / "runs")
    done = rolf_train(folder, "--resume")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: no checkpoint is whole:\n  'runs/mine/checkpoints/iteration-000002'")
    assert done.stderr.endswith("\nput a copy of one back, or begin anew in another folder\n")
    assert kept(folder / "runs") == before


def test_an_environment_that_dies_in_the_middle_of_an_episode(folder: Path) -> None:
    """Where it died is in the traceback, what remains in the last line; mended, it comes to the same bits."""
    assert rolf_train(folder, "--out", "whole").returncode == 0
    # 8 steps of 2 rows for statistics, 8 to learn from: the fifth step of the second iteration.
    done = rolf_train(folder, DIES=str(2 * (8 + 8) + 9))
    assert done.returncode == 1
    assert "the plant has gone" in done.stderr
    assert done.stderr.splitlines()[-1] == "in iteration 1 of the training; --resume goes on from its last checkpoint"
    done = rolf_train(folder, "--resume")
    assert done.returncode == 0, done.stderr
    assert (folder / "runs/mine/metrics.jsonl").read_bytes() == (folder / "whole/metrics.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"PAYS": "nan"}, "the reward nan in row 0, step 1"),
        ({"PAYS": "-inf"}, "the reward -inf in row 0, step 1"),
        ({"SEES": "nan"}, "an observation whose number 2 is nan in row 0, after a step"),
        ({"SEES": "inf"}, "observations whose number 2 is infinite while statistics were taken"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, dict) else "",
)
def test_an_environment_that_gives_what_is_no_number(folder: Path, variables: dict[str, str], said: str) -> None:
    """No other learning rate would help: it does not go back, and says what is to be mended and where."""
    done = rolf_train(folder, **variables)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"Error: iteration 0: Mine-v0 gave {said}: nothing can be learned from that; mend the environment; --resume "
        "goes on from the last checkpoint\n"
    )
    assert rolf_train(folder, "--resume").returncode == 0, "once it is mended"


def test_a_loss_that_is_no_number(folder: Path) -> None:
    """It goes back as often as it may, and ends with what to try."""
    done = rolf_train(folder, "--set", "reward.normalise=false", PAYS="1e30")
    assert (done.returncode, done.stdout) == (1, "")
    assert "the loss is inf; back to iteration 0" in done.stderr
    assert "begin anew with a smaller training.learning_rate" in done.stderr.splitlines()[-1]
