"""`rolf train`, run as a person runs it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pexpect
import psutil
import pytest
from click.testing import CliRunner

from rolf.cli import main

SHARED = Path(__file__).parents[2] / "shared"
COMMAND = [sys.executable, "-c", "from rolf.cli import main; main(prog_name='rolf')", "train"]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(SHARED), "COLUMNS": "120"}
TEXT = """\
experiment: {kind: small_learner, name: quick}
training: {iterations: 4, evaluate_every: 2}
logging: {every: 2, checkpoint_every: 2, tensorboard: false}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "quick.yaml").write_text(TEXT)
    return tmp_path


def rolf_train(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, env=ENVIRONMENT, cwd=folder, timeout=110
    )


def test_trains_and_tells(folder: Path) -> None:
    """Results on stdout, talk on stderr, files under runs/ by the name of the experiment."""
    done = rolf_train(folder, "quick.yaml")
    assert done.returncode == 0, done.stderr
    assert re.search(r"^evaluation/return +[\d.]+$", done.stdout, re.MULTILINE)
    said = re.sub(r"\d+ s: .*", "S", done.stderr).splitlines()
    assert said == ["2 of 4 iterations, S", "4 of 4 iterations, S", "4 of 4 iterations, in runs/quick"]
    assert (folder / "runs" / "quick" / "checkpoints" / "LATEST").read_text() == "iteration-000004\n"


def test_what_a_file_names_may_lie_beside_it(tmp_path: Path) -> None:
    """The installed command, unlike `python -c`, does not look into the working directory by itself."""
    made = "import gymnasium\ngymnasium.register('Mine-v0', 'gymnasium.envs.classic_control:CartPoleEnv', None, 20)\n"
    (tmp_path / "mine.py").write_text(made)
    (tmp_path / "mine.yaml").write_text(
        "experiment: {kind: vector}\nenvironment: {id: 'mine:Mine-v0'}\ntraining: {iterations: 1}\n"
        "rollout: {rows: 2, steps: 8, statistics: 8, evaluation_rows: 1}\n"
    )
    command = [sys.executable, "-P", *COMMAND[1:], "mine.yaml"]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, cwd=tmp_path, timeout=110)
    assert done.returncode == 0, done.stderr


def test_goes_on_with_more_iterations_and_tells_machines(folder: Path) -> None:
    """`--json` holds what was measured last."""
    assert rolf_train(folder, "quick.yaml", "--out", "mine").returncode == 0
    done = rolf_train(folder, "quick.yaml", "--out", "mine", "--resume", "--set", "training.iterations=6", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["iterations"], told["interrupted"], told["folder"]) == (6, False, "mine")
    assert told["values"]["policy/entropy"] is None
    assert "goes on after 4 of 6 iterations" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "no CONFIG.yaml is given"),
        (("gone.yaml",), "'gone.yaml': No such file or directory"),
        (("quick.yaml", "--set", "trainig.iterations=1"), "did you mean 'training'?"),
        (("quick.yaml", "--set", "experiment.kind=vectr"), "did you mean 'vector'?"),
        (("--schema", "langage"), "did you mean 'language'?"),
    ],
)
def test_wrong_usage_exits_with_2(
    folder: Path, arguments: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nothing is written."""
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(main, ["train", *arguments])
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
    assert not (folder / "runs").exists()


def test_what_goes_wrong_while_it_trains_exits_with_1(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one line, without a traceback."""
    monkeypatch.chdir(folder)
    assert CliRunner().invoke(main, ["train", "quick.yaml"]).exit_code == 0
    again = CliRunner().invoke(main, ["train", "quick.yaml"])
    assert (again.exit_code, again.stdout) == (1, "")
    assert again.stderr.startswith("Error: 'runs/quick' holds a training already; --resume goes on with it")


def test_prints_the_schema() -> None:
    """For editors; of one's own learners too."""
    told = json.loads(CliRunner().invoke(main, ["train", "--schema", "small_learner"]).stdout)
    assert told["$defs"]["Training"]["properties"]["iterations"]["minimum"] == 1


def test_a_person_sees_a_bar_and_interrupts(folder: Path) -> None:
    """^C ends it after the iteration, with a checkpoint and 130; it says how to go on."""
    child = pexpect.spawn(
        COMMAND[0], [*COMMAND[1:], "quick.yaml", "--set", "training.iterations=100000"],
        env=ENVIRONMENT, cwd=str(folder), timeout=60, encoding="utf-8", dimensions=(24, 120),
    )  # fmt: skip
    child.expect(r"/100000")
    child.expect(r"rollout/return")
    child.kill(signal.SIGINT)
    child.expect("stopping after this iteration, with a checkpoint")
    child.expect("stopped; --resume goes on from here")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130


def in_two_processes(folder: Path) -> pexpect.spawn[str]:
    """Return the command under way on a terminal, in two processes that have begun to train."""
    child = pexpect.spawn(
        COMMAND[0],
        [*COMMAND[1:], "quick.yaml", "--out", "two", "--set=training.iterations=100000", "--set=cluster.processes=2"],
        env=ENVIRONMENT | {"OMP_NUM_THREADS": "1"}, cwd=str(folder), timeout=200, encoding="utf-8",
        dimensions=(24, 120),
    )  # fmt: skip
    child.expect(r"/100000")
    child.expect(r"rollout/return")
    return child


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_several_processes_are_interrupted_as_one_is(folder: Path) -> None:
    """^C on the terminal: 130, a checkpoint, how to go on, and not a word of torchrun's; nobody is left behind."""
    child = in_two_processes(folder)
    child.sendintr()
    child.expect("stopping after this iteration, with a checkpoint")
    child.expect("stopped; --resume goes on from here")
    child.expect(pexpect.EOF)
    assert "Traceback" not in child.before
    assert "torch" not in child.before
    child.close()
    assert child.exitstatus == 130
    latest = (folder / "two" / "checkpoints" / "LATEST").read_text().strip()
    assert latest != "iteration-000000"
    lines = (folder / "two" / "metrics.jsonl").read_text().splitlines()
    assert latest == f"iteration-{len(lines):06d}", "of the iteration that was under way"


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("end", ["^C twice", "SIGKILL"])
def test_several_processes_do_not_outlive_the_one_that_started_them(folder: Path, end: str) -> None:
    """Asked twice it does not wait for the iteration; killed itself, it leaves nobody that trains on."""
    child = in_two_processes(folder)
    began = processes_in(folder)
    assert len(began) >= 3, "torchrun, and two that train"
    if end == "SIGKILL":
        child.kill(signal.SIGKILL)
    else:
        child.sendintr()
        child.expect("stopping after this iteration")
        child.sendintr()
        child.expect(pexpect.EOF)
        child.close()
        assert child.exitstatus == 130
    deadline = time.monotonic() + 100
    while processes_in(folder) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert processes_in(folder) == set()
    child.close()


def processes_in(folder: Path) -> set[int]:
    """Return the processes whose working directory is a folder."""
    return {each.pid for each in psutil.process_iter(["cwd"]) if each.info["cwd"] == str(folder)}
