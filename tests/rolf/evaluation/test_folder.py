"""The folder of an evaluation: never two in one, never a stranger's files, never half a file for a whole one."""

from __future__ import annotations

import hashlib
import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from evaluations import ROLF, contents, rows

Run = Callable[..., Any]
COMMAND = ("eval", "--split", "toy-v0/small[:2]", "--policy", "chance", "--out", "out")


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (("--split", "toy-v0/small[:3]"), 'split: "toy-v0/small[:2]" there, "toy-v0/small[:3]" now'),
        (("--policy", "toy_contest:Chance"), 'policy: "chance" there, "toy_contest:Chance" now'),
        (("--attempts", "2"), "attempts: 3 there, 2 now"),
        (("--policy", "truth"), "policy is told the truth: false there, true now"),
    ],
)
@pytest.mark.parametrize("whole", [True, False])
def test_another_evaluation_is_left_alone(
    rolf: Run, toys: Path, changed: tuple[str, ...], told: str, whole: bool
) -> None:
    """The same command goes on; another one must not write into the results of the first."""
    rolf(*COMMAND)
    if not whole:
        (toys / "out" / "submission.json").rename(toys / "out" / "submission.partial.json")
        (toys / "out" / "results.jsonl").rename(toys / "out" / "results.partial.jsonl")
    before = {path: path.read_bytes() for path in (toys / "out").rglob("*") if path.is_file()}
    done = rolf(*COMMAND, *changed)
    assert done.returncode == 2
    assert (
        "'out' holds an evaluation that was begun with something else; give another folder, or remove it" in done.stderr
    )
    assert told in done.stderr
    assert {path: path.read_bytes() for path in (toys / "out").rglob("*") if path.is_file()} == before


def test_another_argument_or_source_of_a_policy_is_another_policy(rolf: Run, shell: Run, toys: Path) -> None:
    """A policy that was edited must not inherit the results of what it was before."""
    command = ["eval", "--split", "toy-v0/small[:1]", "--policy", "toy_contest:Wrong", "--out", "out"]
    rolf(*command, "--policy-arg", "how=fine")
    done = rolf(*command, "--policy-arg", "how=well")
    assert 'policy\'s arguments: {"how": "fine"} there, {"how": "well"} now' in done.stderr
    source = "from toy_contest import Chance\nclass Agent(Chance): pass\n"
    command = ["eval", "--split", "toy-v0/small[:1]", "--policy", "edited_agent:Agent", "--out", "other"]
    (toys / "edited_agent.py").write_text(source)
    assert shell(*command).returncode == 0
    assert shell(*command).returncode == 0
    (toys / "edited_agent.py").write_text(source + "# better\n")
    done = shell(*command)
    assert done.returncode == 2
    assert "digest of the policy's file: " in done.stderr


def test_a_policy_that_was_mended_before_it_had_played_begins_anew(shell: Run, toys: Path) -> None:
    """The most common first run ends with an error of the policy's; where no episode is written, nothing can mix."""
    path = toys / "mended_agent.py"
    path.write_text("from toy_contest import Chance\nclass Agent(Chance):\n    def act(self, *_): return missing\n")
    command = ["eval", "--split", "toy-v0/small[:1]", "--policy", "mended_agent:Agent", "--out", "out"]
    assert shell(*command).returncode == 1
    (toys / "out" / "results.partial.jsonl").write_text('{"index": 0, "att')  # as a killed run leaves it
    path.write_text("from toy_contest import Chance\nclass Agent(Chance): pass\n")
    done = shell(*command)
    assert done.returncode == 0, done.stderr
    assert len(rows(toys / "out")) == 3
    source = hashlib.sha256(path.read_bytes()).hexdigest()
    assert json.loads((toys / "out" / "lock.json").read_text())["policy_sha256"] == source


def test_other_versions_are_another_evaluation(rolf: Run, toys: Path) -> None:
    """Half of the episodes under one version and half under another would be neither."""
    rolf(*COMMAND)
    lock = json.loads((toys / "out" / "lock.json").read_text())
    lock["packages"]["numpy"] = "1.0"
    (toys / "out" / "lock.json").write_text(json.dumps(lock))
    done = rolf(*COMMAND)
    assert done.returncode == 2
    assert '"numpy": "1.0"' in done.stderr


def test_results_with_attribution_are_others_than_those_without(rolf: Run, toys: Path) -> None:
    command = ["eval", "--split", "toy-v0/small[:2]", "--policy", "crowd", "--out", "out"]
    rolf(*command)
    done = rolf(*command, "--attribute")
    assert done.returncode == 2
    assert "attribution: false there, true now" in done.stderr


def test_another_machine_goes_on(rolf: Run, toys: Path) -> None:
    """Episodes do not depend on it, and the first one's name stays."""
    rolf(*COMMAND)
    lock = json.loads((toys / "out" / "lock.json").read_text())
    lock["machine"] = {"cpus": 4096}
    (toys / "out" / "lock.json").write_text(json.dumps(lock))
    (toys / "out" / "trajectories" / "00001-1.jsonl.gz").unlink()
    assert rolf(*COMMAND).returncode == 0
    assert json.loads((toys / "out" / "lock.json").read_text())["machine"] == {"cpus": 4096}


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("letter.txt", "dear all", "'out' holds other things ('letter.txt'); give a folder of its own"),
        ("results.jsonl", "", "'out' holds results and no submission.json"),
        ("submission.json", "{}", "'out' has no lock.json"),
        ("submission.json", "[1", "submission.json' is not JSON"),
        ("submission.json", "[1]", "submission.json' is no file of an evaluation"),
    ],
)
def test_strangers_files_are_left_alone(rolf: Run, toys: Path, name: str, content: str, told: str) -> None:
    (toys / "out").mkdir()
    (toys / "out" / name).write_text(content)
    done = rolf(*COMMAND)
    assert done.returncode == 2
    assert told in done.stderr
    assert [path.name for path in (toys / "out").iterdir()] == [name]
    assert (toys / "out" / name).read_text() == content


def test_a_note_may_lie_beside(rolf: Run, toys: Path) -> None:
    (toys / "out").mkdir()
    (toys / "out" / "README.md").write_text("about it")
    assert rolf(*COMMAND).returncode == 0
    assert (toys / "out" / "README.md").read_text() == "about it"


def test_a_row_that_is_none_is_told(rolf: Run, toys: Path) -> None:
    rolf(*COMMAND)
    path = toys / "out" / "results.jsonl"
    path.write_text(path.read_text().replace('"attempt"', '"attempts"', 1))
    done = rolf(*COMMAND)
    assert done.returncode == 2
    assert "results.jsonl', line 1: no row of a result file but" in done.stderr


@pytest.mark.parametrize(
    ("out", "told"),
    [
        ("/proc/nowhere/out", "'/proc/nowhere/out': No such file or directory; give a folder that can be written to"),
        ("file/out", "Not a directory; give a folder that can be written to"),
        ("x" * 300, "File name too long"),
    ],
)
def test_says_where_nothing_can_be_written(rolf: Run, toys: Path, out: str, told: str) -> None:
    (toys / "file").write_text("")
    done = rolf(*COMMAND[:-1], out)
    assert done.returncode == 2
    assert told in done.stderr


def test_a_folder_may_be_called_anything(rolf: Run, toys: Path) -> None:
    for out in ("ein Ordner/größer", "a#1", "-x"):
        assert rolf(*COMMAND[:-1], f"{toys}/{out}").returncode == 0
        assert len(rows(toys / out)) == 6


@pytest.mark.root
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_full_disk_stops_and_loses_nothing(rolf: Run, toys: Path, jobs: str) -> None:
    """It is no fault of the machine that could be counted apart: every episode after it would be one."""
    rolf(*COMMAND[:-1], "calm", "--split", "toy-v0/small", "--attempts", "20")
    (toys / "out").mkdir()
    words = [*ROLF, *COMMAND, "--split", "toy-v0/small", "--attempts", "20", "--jobs", jobs]
    script = f"mount -t tmpfs -o size=200k none out && {shlex.join(words)}; code=$?; cp -r out kept; exit $code"
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script], cwd=toys, capture_output=True, text=True, timeout=100
    )
    assert done.returncode in (1, 2), done.stderr
    assert "No space left on device" in done.stderr
    assert "same command" in done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    kept = rows(toys / "kept", "results.partial.jsonl")
    assert 0 < len(kept) < 120
    assert not any(row["fault"] for row in kept)
    (toys / "out").rmdir()
    (toys / "kept").rename(toys / "out")
    done = rolf(*words[len(ROLF) :])
    assert f"{len(kept)} of 120 episodes are there already" in done.stderr
    assert contents(toys / "out") == contents(toys / "calm")
