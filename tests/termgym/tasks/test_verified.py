"""A task folder counts when its own verifier tells a solved task from an untouched one, and says the same twice."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from rolf.environments import Verdict
from termgym import catalogue
from termgym.errors import UnknownTask
from termgym.tasks.named import named
from termgym.tasks.validation import validator

pytestmark = pytest.mark.root  # an image's root filesystem is laid out with its own owners

CONFIG = "[agent]\ntimeout_sec = 60\n[verifier]\ntimeout_sec = 60\n[environment]\ncpus = 1\nmemory_mb = 512\n"
SOUND = {
    "task.toml": CONFIG,
    "instruction.md": "Sort /app/names.txt into /app/sorted.txt, as `sort` does.\n",
    "environment/Dockerfile": "FROM debian:12\nWORKDIR /app\nCOPY names.txt /app/\n",
    "environment/names.txt": "Mara\nJonas\nInes\n",
    "tests/test.sh": "#!/bin/bash\necho 0 > /logs/verifier/reward.txt\n"
    "sort /app/names.txt | cmp - /app/sorted.txt && echo 1 > /logs/verifier/reward.txt\n",
    "solution/solve.sh": "#!/bin/bash\nsort names.txt > sorted.txt\n",
}
GRADED = (
    "#!/bin/bash\n[ -e /app/sorted.txt ] && r=1 || r=0.25\n"
    """echo "{\\"reward\\": $r, \\"style\\": 0.5}" > /logs/verifier/reward.json\n"""
)
STEPS = {
    "task.toml": CONFIG + "[[steps]]\nname = 'one'\n[[steps]]\nname = 'two'\n",
    "environment/Dockerfile": SOUND["environment/Dockerfile"],
    "environment/names.txt": SOUND["environment/names.txt"],
    **{
        f"steps/{name}/{path}": text
        for name in ("one", "two")
        for path, text in {
            "instruction.md": f"Make /app/{name}.\n",
            "tests/test.sh": f"#!/bin/bash\n[ -e /app/{name} ]; echo $((1 - $?)) > /logs/verifier/reward.txt\n",
            "solution/solve.sh": f"#!/bin/bash\ntouch {name}\n",
        }.items()
    },
}
Write = Callable[[Mapping[str, str | None]], Path]
Validate = Callable[[Path], Verdict]


@pytest.fixture(scope="module")
def validate() -> Iterator[Validate]:
    with validator() as opened:
        yield opened


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(content: Mapping[str, str | None]) -> Path:
        for name, text in content.items():
            if text is not None:
                path = tmp_path / "task" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        return tmp_path / "task"

    return write


@pytest.mark.parametrize("content", [SOUND, STEPS], ids=["one", "steps"])
def test_a_sound_folder_is_valid(write: Write, validate: Validate, content: Mapping[str, str]) -> None:
    """The control of the tests below: what they break is all that is wrong."""
    folder = write(content)
    verdict = validate(folder)
    assert (verdict.task, verdict.problems, verdict.fault) == (str(folder), (), "")
    assert 0 < verdict.seconds < 60


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"tests/test.sh": "#!/bin/bash\necho 1 > /logs/verifier/reward.txt\n"},
         "^doing nothing succeeds; the verifier must fail in the initial state"),
        ({"solution/solve.sh": "#!/bin/bash\necho no names >&2\nexit 3\n"},
         "^the solution does not succeed; its reward is 0; the verifier's output ends in .*No such file"),
        ({"solution/solve.sh": "#!/bin/bash\necho no names >&2\nexit 3\n"},
         "^the solution ends with exit status 3; its output ends in 'no names"),
        ({"solution/solve.sh": None}, "^the task has no solution"),
        ({"tests/test.sh": "#!/bin/bash\necho reward.txt left out\n"}, "^after nothing was done there is no verdict: "),
        ({"tests/test.sh": "#!/bin/bash\n[ -e /app/sorted.txt ] && r=nan || r=0\n"
          "echo $r > /logs/verifier/reward.txt\n"},
         "^after the solution there is no verdict: .*nan"),
        ({"solution/solve.sh": SOUND["solution/solve.sh"] + "head -c 9 /dev/urandom > /app/noise\n"},
         "^the solution leaves another state the second time: digests .*; it changes /app/noise, /app/sorted.txt$"),
        ({"solution/solve.sh": SOUND["solution/solve.sh"] + "head -c 9 /dev/urandom > /app/names.txt\n",
          "tests/test.sh": GRADED}, "^the solution leaves another state .*; they differ in /app/names.txt$"),
        ({"environment/Dockerfile": "FROM debian:12\nCOPY nowhere.txt /\n"}, "^the task cannot be built: .*nowhere"),
        ({"environment/Dockerfile": "FROM debian:12\nCOPY names.txt solve.sh /app/\n", "environment/solve.sh": "x"},
         r"^environment/Dockerfile, line 2: COPY takes environment/solve.sh \[solution-in-image\]"),
        ({"task.toml": "version ="}, r"^\.: task.toml, line 1: .*\[unreadable\]"),
    ],
)  # fmt: skip
def test_notices_what_is_wrong(
    write: Write, validate: Validate, change: Mapping[str, str | None], problem: str
) -> None:
    """A validator that passes everything would pass the test above; and a fault it is not."""
    verdict = validate(write({**SOUND, **change}))
    assert any(re.search(problem, one) for one in verdict.problems), verdict
    assert verdict.fault == ""


def test_what_is_given_for_nothing_is_told(write: Write, validate: Validate) -> None:
    """A graded reward that begins above 0 misleads whoever compares means."""
    verdict = validate(write({**SOUND, "tests/test.sh": GRADED}))
    assert verdict.problems == ()
    assert "doing nothing is rewarded with 0.25" in verdict.notes


def test_the_stage_that_fails_is_named(write: Write, validate: Validate) -> None:
    """In a task of ten stages nobody guesses which."""
    verdict = validate(write({**STEPS, "steps/two/solution/solve.sh": "#!/bin/bash\n"}))
    assert verdict.problems[0].startswith("stage 'two' (2 of 2): the solution does not succeed; its reward is 0.5")


def test_warnings_are_notes(write: Write, validate: Validate) -> None:
    """What may go wrong on some day does not make a task unfit today."""
    verdict = validate(write({**SOUND, "environment/Dockerfile": SOUND["environment/Dockerfile"].replace(":12", "")}))
    assert verdict.valid
    assert any("[unpinned-image]" in note for note in verdict.notes)


def test_an_edited_folder_is_another_case(write: Write) -> None:
    """What was found out about the old one must not be taken for the new one."""
    (before,) = catalogue.cases([str(write(SOUND))], 1)
    (after,) = catalogue.cases([str(write({"solution/more": "x"}))], 1)
    assert before.task == after.task
    assert before.digest != after.digest


def test_paths_stand_for_all_folders_below_them(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(SOUND)
    monkeypatch.chdir(folder.parent)
    assert named([str(folder)], 1) == named([str(folder.parent)], 5) == [folder]
    assert named(["./task"], 1) == named(["."], 1) == [Path("task")]
    for wrong in ("./nowhere", "./task/tests"):
        with pytest.raises(UnknownTask, match=r"is no directory|holds no task folder"):
            named([wrong], 1)


def test_a_build_reaches_the_network_only_if_it_may(write: Write, validate: Validate) -> None:
    """Who validates strangers' folders does not let them fetch what they like."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        dockerfile = SOUND["environment/Dockerfile"] + f"RUN bash -c 'exec 3<> /dev/tcp/127.0.0.1/{port}'\n"
        folder = write({**SOUND, "environment/Dockerfile": dockerfile})
        (problem,) = validate(folder).problems
        assert problem.startswith("the task cannot be built: ")
        assert "line 4" in problem
        with validator(build_network=True) as generous:
            assert generous(folder).problems == ()


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from rolf.cli import main; main(prog_name='rolf')", "tasks", "validate"]
    return subprocess.run([*command, *map(str, arguments)], capture_output=True, text=True, timeout=110)


@pytest.mark.slow
def test_folders_and_families_are_validated_by_the_same_command(write: Write, tmp_path: Path) -> None:
    """Of any kind together, in several processes, each told on its line."""
    folder = write(SOUND)
    done = run(folder, "config-edit/overridden", "--jobs", "2", "--json", "--results", tmp_path / "r")
    rows = {row["task"]: row for row in map(json.loads, done.stdout.splitlines())}
    assert set(rows) == {str(folder), "config-edit/overridden@0"}
    assert all(row["valid"] for row in rows.values()), rows
    assert done.returncode == 0


@pytest.mark.slow
def test_notes_of_a_valid_task_are_told_if_asked(write: Write) -> None:
    """Among thousands of tasks they would bury what is wrong; of an invalid one they may say why."""
    folder = write({**SOUND, "tests/test.sh": GRADED})
    assert run(folder).stdout.endswith(f"{folder}  (1 note: -v)\n")
    assert "note: doing nothing is rewarded with 0.25\n" in run(folder, "-v").stdout
    write({"solution/solve.sh": "#!/bin/bash\n"})
    told = run(folder).stdout
    assert "INVALID" in told
    assert "note: doing nothing is rewarded with 0.25\n" in told
