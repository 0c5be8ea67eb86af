"""The supervisor waits for nothing without end: not for a program, not for the dead, and not when its owner is gone."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from termgym.sandbox import open_sandbox
from termgym.sandbox.local import LocalSandbox
from termgym.sandbox.processes import children
from termgym.tasks.task import Task

EMPTY = Task(id="empty", instruction="")
SOON = 8.0
"""What takes milliseconds, on a machine that is busy [s]."""


@pytest.fixture(params=["local", "local-unsafe"])
def sandbox(request: pytest.FixtureRequest) -> Iterator[LocalSandbox]:
    opened = open_sandbox(request.param)
    assert isinstance(opened, LocalSandbox)
    yield opened
    opened.close()


@pytest.mark.parametrize("timeout", [0.0, 0.0005, 0.002])
def test_a_run_whose_time_is_over_before_it_began_ends(sandbox: LocalSandbox, timeout: float) -> None:
    """The program may be started only after the run was cleared up: by a process that nobody had seen in it yet."""
    session = sandbox.start(EMPTY)
    for _ in range(5):
        began = time.monotonic()
        assert sandbox.run(["sleep", "300"], timeout=timeout).timed_out
        assert time.monotonic() - began < SOON
    assert "sleep" not in [process.argv[0] for process in sandbox.processes()]
    assert session.step(b"echo on", timeout=10).stdout == b"on\n"


def test_a_run_without_the_mark_ends_too(sandbox: LocalSandbox) -> None:
    """Without control groups a variable marks what belongs to a run, and a program may drop it."""
    sandbox.start(EMPTY)
    began = time.monotonic()
    assert sandbox.run(["env", "-i", "sleep", "300"], timeout=0.3).timed_out
    assert time.monotonic() - began < SOON
    assert sandbox.processes() == ()


WAITS_FOR_CHILD = b"""mkfifo never; (setsid python3 -c '
import os
os.posix_spawn("/bin/true", ["true"], {}, file_actions=[(os.POSIX_SPAWN_OPEN, 0, "never", os.O_RDONLY, 0)])
' &); until grep -q "D (disk sleep)" /proc/[0-9]*/status 2>/dev/null; do sleep 0.05; done"""
"""A parent in vfork(2), whose child comes to no end; it cannot be stopped, so no tracer can let it go again."""


def test_a_parent_in_vfork_is_let_go(sandbox: LocalSandbox) -> None:
    """A tracer that kept it would have to collect it, and would wait for its parent, which waits for the tracer."""
    session = sandbox.start(EMPTY)
    assert session.step(WAITS_FOR_CHILD, timeout=10).exit_code == 0
    began = time.monotonic()
    done = sandbox.run(["echo", "looked"], alone=True)
    assert (done.stdout, done.refused) == (b"looked\n", "")
    session.step(b"exit", timeout=10)
    sandbox.kill()
    assert time.monotonic() - began < SOON
    assert sandbox.processes() == ()


def test_the_dead_of_a_killed_starter_are_collected() -> None:
    """Who starts a program from outside may be killed; then the program is the supervisor's, and the sandbox's first
    process does not end before that has collected it."""
    sandbox = open_sandbox("local")
    assert isinstance(sandbox, LocalSandbox)
    supervisor = sandbox._hello["pid"]
    try:
        session = sandbox.start(EMPTY)
        before = set(children(supervisor))
        runs = threading.Thread(target=sandbox.run, args=(["sleep", "300"],), kwargs={"timeout": 60.0})
        runs.start()
        starter = _first_new_child(supervisor, before)
        os.kill(starter, signal.SIGKILL)
        runs.join(SOON)
        assert not runs.is_alive()
        began = time.monotonic()
        session.step(b"(setsid sleep 300 &); exit", timeout=10)
        sandbox.kill()
        assert time.monotonic() - began < SOON
    finally:
        sandbox.close()


def _first_new_child(pid: int, before: set[int]) -> int:
    """Return a child that has a child of its own, so that it is past its first moments."""
    end = time.monotonic() + SOON
    while True:
        for child in set(children(pid)) - before:
            if children(child):
                return child
        assert time.monotonic() < end, "nobody was started"
        time.sleep(0.001)


TRACER = b"""python3 - <<'P' &
import ctypes, os, time
libc = ctypes.CDLL(None)
while True:
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            traced = open(f"/proc/{pid}/cmdline", "rb").read() == b"sleep\\0" + b"299\\0"
        except OSError:
            continue
        if traced and libc.ptrace(0x4206, int(pid), 0, 0) == 0:
            open("traced", "w").close()
            time.sleep(300)
    time.sleep(0.001)
P
echo $!"""


@pytest.mark.slow
def test_a_run_that_the_agent_traces_says_nothing(sandbox: LocalSandbox) -> None:
    """The dead stay as long as their tracer likes. Whoever waits for one gives it up in time, and says why."""
    session = sandbox.start(EMPTY)
    session.step(TRACER, timeout=10)
    began = time.monotonic()
    done = sandbox.run(
        ["sh", "-c", "for _ in $(seq 80); do [ -e traced ] && break; sleep 0.05; done & exec sleep 299"], timeout=4
    )
    assert sandbox.status("/home/agent/traced") is not None, "the tracer came too late"
    assert done.timed_out
    assert "another program traces it" in done.refused
    assert time.monotonic() - began < 4 + 10 + SOON
    sandbox.kill()
    assert sandbox.processes() == ()


OWNER = """
import sys
from termgym.sandbox import open_sandbox
from termgym.tasks.task import Task
sandbox = open_sandbox(sys.argv[1])
session = sandbox.start(Task(id="t", instruction=""))
session.step(b"trap '' HUP; setsid sleep 1237 & exec 3<>/dev/tty", timeout=10)
print(sandbox._hello["pid"], flush=True)
sandbox.run(["sleep", "600"], timeout=600)
"""


@pytest.mark.parametrize("backend", ["local", "local-unsafe"])
def test_a_supervisor_whose_owner_is_killed_amid_a_run_ends(backend: str) -> None:
    """It would wait for the run's end or its time-out, and nobody would be there to be told."""
    owner = subprocess.Popen([sys.executable, "-c", OWNER, backend], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    supervisor = int(owner.stdout.readline())
    gone = os.pidfd_open(supervisor)
    try:
        _first_new_child(supervisor, {pid for pid in children(supervisor) if not _is_supervisor(pid)})
        owner.kill()
        owner.wait()
        ready, _, _ = select.select([gone], [], [], SOON)
        assert ready, f"still waits in {Path(f'/proc/{supervisor}/wchan').read_text()}"
    finally:
        os.close(gone)
        owner.stdout.close()


def _is_supervisor(pid: int) -> bool:
    return b"termgym" in Path(f"/proc/{pid}/cmdline").read_bytes()
