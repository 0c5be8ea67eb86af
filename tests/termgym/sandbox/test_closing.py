"""What closes while something else goes on: another thread's start or step, a start that fails."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from machines import python_on
from patience import until

from termgym.errors import SandboxError
from termgym.sandbox import open_sandbox
from termgym.sandbox.local import LocalSandbox
from termgym.sandbox.measuring import ProcMeter, open_meter
from termgym.tasks.task import Task

EMPTY = Task(id="empty", instruction="")


@pytest.fixture(params=["local", "local-unsafe"])
def sandbox(request: pytest.FixtureRequest) -> Iterator[LocalSandbox]:
    """A sandbox that the test closes itself; one beside it keeps the shared supervisor."""
    with_supervisor = open_sandbox("local")
    opened = open_sandbox(request.param)
    assert isinstance(opened, LocalSandbox)
    yield opened
    opened.close()
    with_supervisor.close()


class Elsewhere:
    """A call in a thread of its own, and the error that it ends in."""

    def __init__(self, do: Callable[[], object]) -> None:
        self._do = do
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._do()
        except Exception as error:  # noqa: BLE001 - the test looks at it
            self._error = error

    def error(self) -> Exception | None:
        """Wait for the end; return the error."""
        self._thread.join(30)
        assert not self._thread.is_alive()
        return self._error


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_closed_amid_a_start_of_another_thread_it_keeps_no_descriptor(sandbox: LocalSandbox) -> None:
    """Where nobody waits for a reset any more, its shell still comes: into a sandbox that is closed by then."""
    before = descriptors()
    sandbox.start(EMPTY)
    os.kill(sandbox._supervisor.pid, signal.SIGSTOP)
    start = Elsewhere(lambda: sandbox.start(EMPTY))
    assert until(sandbox._supervisor._lock.locked)
    close = Elsewhere(sandbox.close)
    assert until(lambda: sandbox._closed)
    os.kill(sandbox._supervisor.pid, signal.SIGCONT)
    assert isinstance(start.error(), SandboxError)
    assert close.error() is None
    assert descriptors() == before - (not sandbox._isolated)  # whose supervisor has gone with it


def test_closed_amid_a_step_of_another_thread_it_takes_nothing_from_others(sandbox: LocalSandbox) -> None:
    """Whatever is opened next gets the numbers that were closed, and the step must not read there."""
    before = descriptors()
    session = sandbox.start(EMPTY)
    step = Elsewhere(lambda: session.step(b"sleep 1237", timeout=600))
    assert until(lambda: any("1237" in " ".join(each.argv) for each in sandbox.processes()))
    session.close()
    with ExitStack() as others:
        ends = [others.enter_context(end) for _ in range(8) for end in socket.socketpair()]
        for end in ends:
            end.send(b"kept")
        sandbox.close()
        assert isinstance(step.error(), SandboxError)
        for end in ends:
            assert end.recv(8, socket.MSG_DONTWAIT) == b"kept"
    assert descriptors() == before - (not sandbox._isolated)


def test_closed_between_its_beginning_and_its_driving_a_step_ends_with_a_word(sandbox: LocalSandbox) -> None:
    session = sandbox.start(EMPTY)
    session.begin(b"echo here", timeout=20)
    session.close()
    taken = [os.open(os.devnull, os.O_RDONLY) for _ in range(16)]  # the numbers that it had
    try:
        with pytest.raises(SandboxError, match="closed, by another thread, before its step was driven"):
            session.drive()
    finally:
        for each in taken:
            os.close(each)


def test_a_group_that_cannot_be_measured_keeps_no_descriptor(tmp_path: Path) -> None:
    """Its files go with it, one after the other, where it is removed meanwhile."""
    (tmp_path / "memory.peak").write_text("0")
    before = descriptors()
    kinds = ("memory", "cpuacct")
    group = {"directories": dict.fromkeys(kinds, str(tmp_path)), "versions": dict.fromkeys(kinds, 2)}
    assert isinstance(open_meter(group), ProcMeter)
    assert descriptors() == before


STARTS = """
from termgym.sandbox import client
try:
    client.Supervisor("isolated")
except OSError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("lack", "told"),
    [
        ("import sys\nsys.executable = '/nowhere/python'\n", "No such file"),
        (
            "import os, resource\nfree = os.dup(0)\nos.close(free)\n"
            "resource.setrlimit(resource.RLIMIT_NOFILE, (free + 2, 64))\n",
            "Too many",
        ),
    ],
    ids=["no interpreter", "no descriptor"],
)
def test_a_supervisor_that_cannot_be_started_leaves_no_socket(lack: str, told: str) -> None:
    done = python_on("import termgym.sandbox.client\n" + lack + STARTS)
    assert told in done.stdout
    assert done.stderr == ""
