"""`rolf tasks lint`, as a person or a script runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

TASK = "[agent]\ntimeout_sec = 9\n[verifier]\ntimeout_sec = 9\n[environment]\ncpus = 1\nmemory_mb = 9\n"
SCRIPT = "#!/bin/bash\necho 1 > /logs/verifier/reward.txt\n"


def lint(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from rolf.cli import main; main(prog_name='rolf')", "tasks", "lint"]
    return subprocess.run([*command, *map(str, arguments)], capture_output=True, text=True, cwd=cwd, timeout=60)


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """Two tasks in a directory, one of which gives its tests away."""
    for name, dockerfile in (("leaks", "FROM debian\nCOPY test.sh /x\n"), ("sound", "FROM debian:12.5\n")):
        root = tmp_path / name
        for part in ("environment", "tests"):
            (root / part).mkdir(parents=True)
        (root / "task.toml").write_text(
            "[agent]\ntimeout_sec = 9\n[verifier]\ntimeout_sec = 9\n[environment]\ncpus=1\nmemory_mb=9\n"
        )
        (root / "instruction.md").write_text("Do nothing.\n")
        (root / "environment" / "Dockerfile").write_text(dockerfile)
        (root / "tests" / "test.sh").write_text(SCRIPT)
    (tmp_path / "leaks" / "environment" / "test.sh").write_text(SCRIPT)
    return tmp_path


def test_tells_each_mistake_with_its_place_and_what_to_do(folders: Path) -> None:
    done = lint(".", cwd=folders)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "leaks/environment/Dockerfile, line 1: warning: FROM debian [unpinned-image]; "
        "name a tag that stays, or a digest",
        "leaks/environment/Dockerfile, line 2: error: COPY takes environment/test.sh [tests-in-image]; "
        "copy what the agent needs by name, or add tests to .dockerignore",
    ]
    assert done.stderr == "1 error, 1 warning, 0 notes\n"


def test_a_machine_reads_one_object_a_line(folders: Path) -> None:
    rows = [json.loads(line) for line in lint("--json", folders / "leaks").stdout.splitlines()]
    assert [row["rule"] for row in rows] == ["unpinned-image", "tests-in-image"]
    assert set(rows[0]) == {"place", "severity", "rule", "message", "advice"}


def test_warnings_are_errors_if_asked(folders: Path) -> None:
    """A collection that wants to keep clean says so."""
    (folders / "leaks" / "environment" / "Dockerfile").write_text("FROM debian\n")
    assert lint(folders).returncode == 0
    assert lint("--strict", folders).returncode == 1
    assert lint("--strict", folders / "sound").returncode == 0


def test_what_is_no_folder_is_wrong_usage(folders: Path) -> None:
    for path, said in (("nowhere", "is not there"), ("sound/task.toml", "is no directory")):
        done = lint(folders / path)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr


def test_a_directory_without_tasks_is_an_error(tmp_path: Path) -> None:
    done = lint(tmp_path)
    assert done.returncode == 1
    assert "has neither a task.toml (Harbor) nor a task.yaml" in done.stdout
