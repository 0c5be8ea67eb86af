"""`rolf tasks validate` with several processes, and after it was stopped at any moment."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pexpect
import psutil
import pytest

from rolf import __version__
from rolf.environments import Case, Verdict
from rolf.results import Results

ENV = "termgym:TermEnv-v1"
CASE = Case("family/cause@0", "ab", None)
SOUND = Verdict("family/cause@0", (), 1.0, notes=("by the way",))
COMMAND = [sys.executable, "-c", "from rolf.cli import main; main(prog_name='rolf')", "tasks", "validate"]


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=110)


def rows(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def workers(pid: int) -> list[psutil.Process]:
    """Return the processes that validate for another, which starts them by spawn."""
    return [each for each in psutil.Process(pid).children() if "spawn_main" in " ".join(each.cmdline())]


def test_what_is_written_counts_again(tmp_path: Path) -> None:
    with Results(tmp_path / "r") as results:
        results.add(ENV, SOUND, "ab")
        assert results.kept(ENV, CASE) is None, "what this run finds out is for the next"
    with Results(tmp_path / "r") as results:
        assert results.kept(ENV, CASE) == SOUND


@pytest.mark.parametrize(
    ("verdict", "digest", "change"),
    [
        (SOUND, "cd", {}),
        (Verdict("family/cause@1", (), 1.0), "ab", {}),
        (Verdict("family/cause@0", (), 1.0, "the disk is gone"), "ab", {}),
        (SOUND, "", {}),
        (SOUND, "ab", {"version": "0.0.1"}),
        (SOUND, "ab", {"env": "other:Env-v0"}),
    ],
)
def test_what_may_have_changed_does_not_count(
    tmp_path: Path, verdict: Verdict, digest: str, change: dict[str, str]
) -> None:
    """Another content, another task, a fault, no content known, another version, another environment."""
    path = tmp_path / "r"
    with Results(path) as results:
        results.add(ENV, verdict, digest)
    path.write_text(json.dumps({**rows(path)[0], **change}) + "\n")
    with Results(path) as results:
        assert results.kept(ENV, CASE) is None


@pytest.mark.parametrize("length", [1, 5, 20, 150])
def test_a_cut_line_is_cut_off(tmp_path: Path, length: int) -> None:
    """kill -9 may fall amid a write; what came before it counts, and what comes after it is whole."""
    path = tmp_path / "r"
    with Results(path) as results:
        results.add(ENV, SOUND, "ab")
    line = path.read_bytes()
    path.write_bytes(line + line[:length])
    with Results(path) as results:
        assert results.kept(ENV, CASE) == SOUND
        results.add(ENV, SOUND, "cd")
    assert [row["digest"] for row in rows(path)] == ["ab", "cd"]


@pytest.mark.parametrize("content", ["my letter", "my letter\n", '{"task": 1}\n', "[]\n", "\n", '{"en": 1}'])
def test_another_file_is_refused_and_left_alone(tmp_path: Path, content: str) -> None:
    """`--results notes.txt` is a slip; the notes must survive it."""
    path = tmp_path / "r"
    path.write_text(content)
    done = run("config-edit", "--results", path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "line 1: no verdict" in done.stderr
    assert path.read_text() == content


def test_one_run_at_a_time_writes_to_a_file(tmp_path: Path) -> None:
    with Results(tmp_path / "r"):
        done = run("config-edit", "--results", tmp_path / "r")
    assert done.returncode == 2
    assert "another run writes to it" in done.stderr


def test_a_file_that_cannot_be_written_is_wrong_usage() -> None:
    done = run("config-edit", "--results", "/proc/nowhere/r")
    assert done.returncode == 2
    assert "No such file or directory; give a file that can be written" in done.stderr


@pytest.mark.slow
def test_goes_on_where_it_was_killed(tmp_path: Path) -> None:
    """What was found out is not played again, the rest is, and nobody stays behind."""
    path = tmp_path / "r"
    arguments = ["config-edit", "--seeds", "3", "--jobs", "2", "--results", str(path)]
    with subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as first:
        deadline = time.monotonic() + 60
        while not path.exists() or not path.read_bytes().count(b"\n"):
            assert time.monotonic() < deadline
        below = psutil.Process(first.pid).children(recursive=True)
        first.kill()
    assert not psutil.wait_procs(below, timeout=60)[1], "a process outlives the run that started it"
    before = path.read_bytes().count(b"\n")
    done = run(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    assert f"9 of 9 valid, {before} from an earlier run; " in done.stderr
    assert len(done.stdout.splitlines()) == len(rows(path)) == 9
    assert len({row["task"] for row in rows(path)}) == 9
    assert {row["version"] for row in rows(path)} == {__version__}


@pytest.mark.slow
def test_a_process_that_dies_takes_one_task_with_it(tmp_path: Path) -> None:
    """Out of memory, perhaps: that says nothing of the task, and the others are played."""
    arguments = ["config-edit", "--seeds", "2", "--jobs", "2", "--json"]
    with subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        deadline = time.monotonic() + 60
        while not workers(run.pid):
            assert time.monotonic() < deadline
        workers(run.pid)[0].kill()
        told, said = run.communicate(timeout=100)
    verdicts = [json.loads(line) for line in told.splitlines()]
    assert run.returncode == 1
    assert len(verdicts) == 6
    (fault,) = (verdict["fault"] for verdict in verdicts if not verdict["valid"])
    assert fault == "the process that validated it ended with -9 before there was a verdict"
    assert said.startswith("5 of 6 valid, 1 fault; ")


@pytest.mark.slow
def test_a_person_sees_a_bar_and_a_file_only_results(tmp_path: Path) -> None:
    """The bar is talk: on stderr, and only where somebody looks."""
    words = [*COMMAND[1:], "config-edit", "--json"]
    child = pexpect.spawn(
        "/bin/sh", ["-c", f'exec "$@" > {tmp_path}/out', "sh", sys.executable, *words],
        encoding="utf-8", timeout=60, env={**os.environ, "TERM": "xterm-256color"},
    )  # fmt: skip
    child.expect(r"\d/3")
    child.expect("3 of 3 valid; ")
    child.expect(pexpect.EOF)
    assert len(rows(tmp_path / "out")) == 3
    assert run("config-edit/overridden").stderr.startswith("1 of 1 valid; ")


@pytest.mark.slow
def test_an_interrupt_leaves_nobody_behind(tmp_path: Path) -> None:
    """^C reaches all of them, as on a terminal."""
    arguments = ["config-edit", "--seeds", "9", "--jobs", "2", "--results", str(tmp_path / "r")]
    with subprocess.Popen(
        [*COMMAND, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as run:
        deadline = time.monotonic() + 60
        while not (tmp_path / "r").exists() or not (tmp_path / "r").read_bytes():
            assert time.monotonic() < deadline
        below = psutil.Process(run.pid).children(recursive=True)
        os.killpg(run.pid, signal.SIGINT)
        said = run.communicate(timeout=60)[1]
    assert run.returncode != 0
    assert "Traceback" not in said, said
    assert not psutil.wait_procs(below, timeout=60)[1]
