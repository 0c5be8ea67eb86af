"""The spare: a repeated reset hands over a shell that was made ready meanwhile, and nobody can tell."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from termgym.sandbox import open_sandbox
from termgym.sandbox.local import LocalSandbox
from termgym.tasks.task import HOME, FileSpec, Task

FIRST = Task(id="first", instruction="", files=(FileSpec(f"{HOME}/f", b"first\n"),))
SECOND = Task(id="second", instruction="", files=(FileSpec(f"{HOME}/f", b"second\n"),))
LOOK = b"cat f; ls -1A . /tmp; echo $$ [$LEFT] $((SECONDS < 2)); jobs; ps -eo pid= | wc -l"


@pytest.fixture
def sandbox() -> Iterator[LocalSandbox]:
    opened = open_sandbox("local")
    assert isinstance(opened, LocalSandbox)
    yield opened
    opened.close()


def test_every_repeated_start_looks_like_the_first(sandbox: LocalSandbox) -> None:
    first = sandbox.start(FIRST).step(LOOK, timeout=10).stdout
    digest = sandbox.digest()
    seen = set()
    for _ in range(6):
        session = sandbox.start(FIRST)
        seen.add(sandbox._facts["live"])
        assert session.step(LOOK, timeout=10).stdout == first
        assert (sandbox.diff(), sandbox.digest()) == ((), digest)
        session.step(b"LEFT=1; echo x > f; touch /tmp/left; sleep 300 &", timeout=10)
        assert {change.path for change in sandbox.diff()} == {f"{HOME}/f", "/tmp/left"}
    assert len(seen) == 2, "the spare was never used, so this proved nothing"


def test_another_task_never_gets_the_spare(sandbox: LocalSandbox) -> None:
    for task in (FIRST, FIRST, FIRST, SECOND, FIRST, SECOND, SECOND, SECOND, FIRST):
        content = task.files[0].content
        assert sandbox.start(task).step(b"cat f", timeout=10).stdout == content


def test_saved_files_outlive_a_start(sandbox: LocalSandbox) -> None:
    """They belong to the machine in use, so that one stays in use while they are kept."""
    for _ in range(3):
        session = sandbox.start(FIRST)
    session.step(b"echo saved > f", timeout=10)
    token = sandbox.save()
    for _ in range(3):
        assert sandbox.start(FIRST).step(b"cat f", timeout=10).stdout == b"first\n"
    assert sandbox.restore(token).step(b"cat f", timeout=10).stdout == b"saved\n"
    sandbox.forget(token)
    assert sandbox.start(FIRST).step(b"cat f", timeout=10).stdout == b"first\n"


def test_figures_are_those_of_the_machine_in_use(sandbox: LocalSandbox) -> None:
    for _ in range(4):
        session = sandbox.start(FIRST)
        sandbox.begin_step()
        session.step(b"python3 -c 'sum(range(3 * 10**6))'", timeout=20)
        used = sandbox.metrics().cpu_s
        assert used is not None
        assert used > 0.02


def test_a_spare_that_cannot_be_made_is_reported_and_not_missed(sandbox: LocalSandbox) -> None:
    Path(f"/proc/{sandbox._hello['pid']}/root/mnt/m{sandbox._machine}b").mkdir()  # where the spare would have its own
    for _ in range(5):
        assert sandbox.start(FIRST).step(b"cat f", timeout=10).stdout == b"first\n"
    missing = sandbox.capabilities()["missing"]
    assert isinstance(missing, dict)
    assert "File exists" in missing["spare shell"]
