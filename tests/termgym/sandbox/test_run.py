"""Programs beside the shell: whatever they start, and whatever the agent does meanwhile, they end and report."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from machines import python_on

from termgym.sandbox import open_sandbox
from termgym.sandbox.cgroups import Group
from termgym.sandbox.local import LocalSandbox
from termgym.sandbox.room import Room
from termgym.tasks.task import Limits, Task

EMPTY = Task(id="empty", instruction="", limits=Limits(processes=64))


@pytest.fixture
def sandbox() -> Iterator[LocalSandbox]:
    opened = open_sandbox("local")
    assert isinstance(opened, LocalSandbox)
    yield opened
    opened.close()


needs_groups = pytest.mark.skipif(
    os.getuid() != 0, reason="an ordinary user without control groups has a forgeable mark only"
)
ESCAPES = {
    "without the mark": "env -i setsid sleep 300 & env -i sh -c '(sleep 300 &)'",
    "that writes without end": "env -i setsid yes & sleep 0.1",
    "that multiplies": "env -i setsid sh -c 'while :; do sh -c \"sleep 1\" & done' & sleep 0.2",
    "bomb": ":(){ :|:& };: & sleep 0.2",
}


@needs_groups
@pytest.mark.parametrize("escape", ESCAPES)
def test_nothing_of_a_run_outlives_it(sandbox: LocalSandbox, escape: str) -> None:
    """Under a limit of 64 processes that the sandbox has verified."""
    session = sandbox.start(EMPTY)
    assert sandbox.capabilities()["limits"]["processes"] != "rlimit"  # type: ignore[index]
    began = time.monotonic()
    done = sandbox.run(["bash", "-c", f"{{ {ESCAPES[escape]}; }} 2>/dev/null; exit 7"], timeout=20)
    assert (done.exit_code, done.timed_out) == (7, False) or escape == "bomb", done.stderr[:200]
    assert time.monotonic() - began < 15
    assert sandbox.processes() == ()
    assert session.step(b"echo unharmed", timeout=10).stdout == b"unharmed\n"
    assert sandbox.run(["echo", "again"]).stdout == b"again\n"


@needs_groups
def test_a_forged_mark_does_not_hold_a_run_up(sandbox: LocalSandbox) -> None:
    """The agent's own processes are none of the run's, whatever they call themselves, and live on."""
    session = sandbox.start(EMPTY)
    session.step(b"(export ROLF_RUN=1; while :; do sleep 0.01 & sleep 0.005; done) & disown", timeout=10)
    began = time.monotonic()
    assert sandbox.run(["echo", "done"]).stdout == b"done\n"
    assert time.monotonic() - began < 5
    assert sandbox.processes() != ()


def test_a_fork_bomb_in_a_run_ends_for_an_ordinary_user_too() -> None:
    """RLIMIT_NPROC is in force before it starts: checked here first."""
    done = python_on(
        """
import time
from termgym.sandbox import open_sandbox
from termgym.tasks.task import Limits, Task
sandbox = open_sandbox("local")
session = sandbox.start(Task(id="t", instruction="", limits=Limits(processes=64)))
assert int(sandbox.run(["bash", "-c", "ulimit -u"]).stdout) <= 8192
began = time.monotonic()
sandbox.run(["bash", "-c", "{ :(){ :|:& };: & sleep 0.2; } 2>/dev/null"], timeout=10)
print(time.monotonic() - began < 15, sandbox.processes())
print(session.step(b"echo unharmed", timeout=10).stdout)
sandbox.close()
""",
        user=os.getuid() == 0,
    )
    assert done.stdout == "True ()\nb'unharmed\\n'\n", done.stderr


def test_a_run_that_was_killed_says_so_like_a_shell(sandbox: LocalSandbox) -> None:
    sandbox.start(EMPTY)
    assert sandbox.run(["sh", "-c", "kill -9 $$"]).exit_code == 137
    assert sandbox.run(["sleep", "300"], timeout=0.1).exit_code == 137


@pytest.mark.parametrize("timeout", [float("nan"), float("inf"), -1.0])
def test_a_timeout_that_is_none_is_refused(sandbox: LocalSandbox, timeout: float) -> None:
    sandbox.start(EMPTY)
    with pytest.raises(ValueError, match="timeout is"):
        sandbox.run(["true"], timeout=timeout)
    assert sandbox.run(["echo", "on"]).stdout == b"on\n"


def test_programs_that_cannot_start_end_in_127(sandbox: LocalSandbox) -> None:
    sandbox.start(EMPTY)
    for argv in (["/nowhere/x"], ["a\0b"], ["\ud800"], []):
        assert sandbox.run(argv).exit_code == 127, argv
    assert sandbox.run(["true"], cwd="/nowhere").exit_code == 127
    assert sandbox.run(["true"], env={"A": "b\0c"}).exit_code == 127


def test_a_room_of_a_version_2_group_is_cleared() -> None:
    """Where only the unified hierarchy is mounted; here its freezer is tried on a group of the test's own."""
    unified = [
        line.split()[4]
        for line in Path("/proc/self/mountinfo").read_text().splitlines()
        if " - cgroup2 " in line and os.access(line.split()[4], os.W_OK)
    ]
    if not unified:
        pytest.skip("no writable unified hierarchy")
    group = Group({"pids": Path(unified[0]) / f"rolf-test-{os.getpid()}"}, {"pids": 2})
    group.directories["pids"].mkdir()
    try:
        room = Room(group, list)
        pid = os.fork()
        if pid == 0:
            room.enter()
            os.execvp("sh", ["sh", "-c", "sleep 300 & setsid sleep 300 & echo; exec sleep 300"])
        deadline = time.monotonic() + 10
        while len(group.processes()) < 3 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(group.processes()) == 3
        room.clear(pid)
        assert group.processes() == {pid}
        os.kill(pid, 9)
        os.waitpid(pid, 0)
    finally:
        group.remove()
