"""Initial states are built from tasks that strangers wrote: confined like an agent, and nowhere but in their tree."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from termgym.errors import TaskError
from termgym.sandbox import open_sandbox
from termgym.sandbox.protocol import Sandbox
from termgym.tasks.task import HOME, FileSpec, Limits, Task


@pytest.fixture(params=["local", "local-unsafe"])
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    opened = open_sandbox(request.param)
    yield opened
    opened.close()


def test_no_file_of_a_task_is_written_through_a_link(sandbox: Sandbox, tmp_path: Path) -> None:
    """It could lead to the host, where it would be written by whoever runs the sandbox."""
    link = FileSpec(f"{HOME}/way", os.fsencode(tmp_path), kind="symlink")
    for name in ("way/x", "way/deep/x"):
        with pytest.raises(TaskError, match="leads through the symbolic link '/home/agent/way'"):
            sandbox.start(Task(id=name, instruction="", files=(link, FileSpec(f"{HOME}/{name}", b"out"))))
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_a_task_takes_the_place_of_a_link(sandbox: Sandbox, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("kept")
    files = (FileSpec(f"{HOME}/f", os.fsencode(victim), kind="symlink"), FileSpec(f"{HOME}/f", b"new", mode=0o600))
    session = sandbox.start(Task(id="file over link", instruction="", files=files))
    assert session.step(b"cat ~/f; stat -c %F ~/f", timeout=10).stdout == b"newregular file\n"
    assert victim.read_text() == "kept"
    assert victim.stat().st_mode & 0o777 != 0o600


def test_a_setup_that_leaves_a_daemon_ends(sandbox: Sandbox) -> None:
    """The daemon holds the output open; it is dead before the initial state is used."""
    began = time.monotonic()
    session = sandbox.start(Task(id="daemon", instruction="", setup="setsid sleep 301 & echo x > made"))
    assert time.monotonic() - began < 20
    assert session.step(b"cat made", timeout=10).stdout == b"x\n"
    assert sandbox.processes() == ()


def test_a_setup_that_says_too_much_shows_its_end(sandbox: Sandbox) -> None:
    with pytest.raises(TaskError, match="the last word"):
        sandbox.start(
            Task(id="flood", instruction="", setup="head -c 50M /dev/zero | tr '\\0' y; echo the last word; exit 1")
        )


def test_a_setup_has_limits_before_anything_runs(sandbox: Sandbox) -> None:
    """The first one too, and not those of the task before."""
    tight = Task(id="tight", instruction="", setup="ulimit -u > n", limits=Limits(processes=16, file_bytes=1 << 20))
    session = sandbox.start(tight)
    assert session.step(b"cat n", timeout=10).stdout.strip().isdigit()
    wide = Task(id="wide", instruction="", setup="head -c 4M /dev/zero > big; stat -c %s big")
    assert sandbox.start(wide).step(b"stat -c %s big", timeout=10).stdout == b"4194304\n"
    heavy = "head -c 200M /dev/zero > big"
    small = Task(id="heavy", instruction="", setup=heavy, limits=Limits(memory_bytes=100 << 20, disk_bytes=1 << 20))
    assert sandbox.start(small).step(b"echo up", timeout=10).stdout == b"up\n"
