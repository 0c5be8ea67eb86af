"""The owner and its supervisor: interrupted, stopped, killed or forgotten, neither waits for ever nor leaves traces."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from machines import python_on
from patience import until
from warden import traces

from termgym.errors import SandboxError, SandboxLost
from termgym.sandbox import open_sandbox
from termgym.sandbox.client import Supervisor
from termgym.sandbox.local import LocalSandbox
from termgym.tasks.task import Task

EMPTY = Task(id="empty", instruction="")


@pytest.fixture
def sandbox() -> Iterator[LocalSandbox]:
    opened = open_sandbox("local")
    assert isinstance(opened, LocalSandbox)
    yield opened
    opened.close()


def _interrupt_after(seconds: float) -> threading.Timer:
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


def test_an_interrupted_request_does_not_shift_the_answers(sandbox: LocalSandbox) -> None:
    """After a ^C the answer that nobody waited for must not be taken for the next one's."""
    session = sandbox.start(EMPTY)
    for _ in range(3):
        timer = _interrupt_after(0.1)
        with pytest.raises(KeyboardInterrupt):
            sandbox.run(["sh", "-c", "sleep 0.5; echo late"])
        timer.join()
        assert sandbox.run(["echo", "next"]).stdout == b"next\n"
    assert session.step(b"echo on", timeout=10).stdout == b"on\n"


def test_an_interrupted_start_leaves_no_descriptor(sandbox: LocalSandbox) -> None:
    slow = Task(id="slow", instruction="", setup="sleep 0.5")
    sandbox.start(EMPTY)
    before = len(os.listdir("/proc/self/fd"))
    timer = _interrupt_after(0.1)
    with pytest.raises(KeyboardInterrupt):
        sandbox.start(slow)
    timer.join()
    assert sandbox.start(EMPTY).step(b"echo on", timeout=10).stdout == b"on\n"
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_stopped_supervisor_is_given_up() -> None:
    supervisor = Supervisor("isolated")
    supervisor._patience = 0.5  # only from here on: a start takes longer on a busy machine
    os.kill(supervisor.pid, signal.SIGSTOP)
    began = time.monotonic()
    with pytest.raises(SandboxLost, match=r"did not answer 'hello' in 0\.5 s and was killed; call reset"):
        supervisor.request("hello")
    assert time.monotonic() - began < 5
    assert supervisor.lost
    assert not Path(f"/proc/{supervisor.pid}").exists()


@pytest.mark.parametrize("backend", ["local", "local-unsafe"])
def test_a_killed_supervisor_leaves_nothing(backend: str) -> None:
    """Its owner cleans up after it, without waiting for another start."""
    sandbox = open_sandbox(backend)
    assert isinstance(sandbox, LocalSandbox)
    session = sandbox.start(EMPTY)
    session.step(b"setsid sleep 1235 & (setsid sleep 1235 &); echo x > f", timeout=10)
    pid, pids = sandbox._hello["pid"], sandbox._pids()
    assert len(pids) >= 3
    assert traces(pid) or os.getuid() != 0
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(SandboxLost):
        sandbox.diff()
    sandbox.close()
    assert traces(pid) == []
    if backend == "local" or os.getuid() == 0:  # an ordinary user has no group that knows what outlived
        assert until(lambda: not any(Path(f"/proc/{p}/exe").exists() for p in pids))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT])
def test_signals_meant_for_the_owner_do_not_end_the_supervisor(sandbox: LocalSandbox, number: signal.Signals) -> None:
    """A terminal and a service manager send them to every process they know. What is started gets them as ever."""
    session = sandbox.start(EMPTY)
    os.kill(sandbox._hello["pid"], number)
    assert sandbox.run(["sh", "-c", f"kill -{int(number)} $$; echo survived"]).stdout == b""
    assert session.step(f"sh -c 'kill -{int(number)} $$; echo survived'".encode(), timeout=10).stdout == b""
    made = Task(id=f"{number}", instruction="", setup=f"sh -c 'kill -{int(number)} $$; echo s > s' || true")
    assert sandbox.start(made).step(b"ls", timeout=10).stdout == b""


def test_misuse_is_answered_and_harms_no_other(sandbox: LocalSandbox) -> None:
    """Before the start, after the end, in the wrong order: an error for whoever asked."""
    session = sandbox.start(EMPTY)
    other = open_sandbox("local")
    for ask in (other.diff, other.respawn, other.digest, other.save, lambda: other.run(["true"])):
        with pytest.raises(SandboxError):
            ask()
    with pytest.raises(SandboxError, match="start it first"):
        other.status("/tmp")
    other.start(EMPTY)
    with pytest.raises((SandboxError, OSError)):
        other.restore("no such token")
    other.close()
    with pytest.raises(SandboxError, match="is closed"):
        other.diff()
    with pytest.raises(SandboxError, match="is closed"):
        other.start(EMPTY)
    assert session.step(b"echo unharmed", timeout=10).stdout == b"unharmed\n"


def _drop(held: list[LocalSandbox]) -> None:
    held.clear()
    gc.collect()


def test_a_forgotten_sandbox_is_closed(sandbox: LocalSandbox) -> None:
    """Nobody closed it, so the garbage collector does, and says so."""
    sandbox.start(EMPTY)
    before = len(os.listdir("/proc/self/fd"))
    forgotten = open_sandbox("local")
    assert isinstance(forgotten, LocalSandbox)
    session = forgotten.start(EMPTY)
    shell, pid = forgotten._facts["shell_pid"], forgotten._hello["pid"]
    name = forgotten._machine
    session.close()
    held = [forgotten]
    del forgotten, session
    with pytest.warns(ResourceWarning, match="was not closed"):
        _drop(held)
    sandbox.digest()
    assert not Path(f"/proc/{shell}").exists()
    assert not any(path.name.endswith(f"-{name}") for path in traces(pid))
    assert len(os.listdir("/proc/self/fd")) == before


def test_descriptors_are_inherited_by_nobody(sandbox: LocalSandbox) -> None:
    """A program that the owner starts must not hold an agent's terminal open."""
    before = set(os.listdir("/proc/self/fd"))
    sandbox.start(EMPTY)
    new = {int(fd) for fd in set(os.listdir("/proc/self/fd")) - before if os.path.lexists(f"/proc/self/fd/{fd}")}
    assert len(new) >= 7
    assert [fd for fd in new if os.get_inheritable(fd)] == []


WORKS = """
from termgym.sandbox import open_sandbox
from termgym.tasks.task import Task
import sys
for backend in ("local", "local-unsafe"):
    sandbox = open_sandbox(backend)
    for _ in range(3):
        session = sandbox.start(Task(id="t", instruction="", setup="umask > ../../tmp/mask"))
        said = session.step(b"echo works; umask; pwd -P >&2", timeout=20).stdout + sandbox.run(["echo", "too"]).stdout
        assert said == b"works\\n0022\\ntoo\\n", said
        sandbox.diff()
    sandbox.close()
"""
PRELUDES = {
    "no standard streams": "import os\nfor fd in (0, 1, 2): os.close(fd)\n",
    "only input": "import os\nfor fd in (1, 2): os.close(fd)\n",
    "a full terminal": "import sys\nsys.stdout = sys.stderr = open('/dev/full', 'w')\n",
    "umask 077": "import os\nos.umask(0o077)\n",
    "a directory that is gone": "import os, tempfile\nd = tempfile.mkdtemp()\nos.chdir(d)\nos.rmdir(d)\n",
    "many descriptors": "import os\nfds = [os.open('/dev/null', 0) for _ in range(1100)]\n",
    "the shell's numbers taken": "import os\nfds = [os.open('/dev/null', 0) for _ in range(233)]\n",
    "few descriptors": "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (64, 4096))\n",
    "no languages": "import os\nos.environ.clear()\n",
    "junk in the environment": "import os\nos.environ.update(PYTHONPATH='/dev/null', PYTHONHOME='/x', BASH_ENV='/x',"
    " LD_PRELOAD='', TMPDIR='/nowhere', PYTHONSTARTUP='/x', PATH='/usr/bin:/bin')\n",
    "signals ignored": "import signal\nfor n in (1, 2, 3, 15, 17): signal.signal(n, signal.SIG_IGN)\n",
    "signals blocked": "import signal\nsignal.pthread_sigmask(0, signal.valid_signals())\n",
    "in a thread": "import threading\n",
}


@pytest.mark.parametrize("user", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["same user", "ordinary"])
@pytest.mark.parametrize("case", PRELUDES)
def test_a_strange_owner_gets_a_sandbox(case: str, user: bool) -> None:
    """Whatever it was started with: streams closed, few or many descriptors, a directory that is gone."""
    if user and os.getuid() != 0:
        pytest.skip("the other case is this one already")
    code = PRELUDES[case] + WORKS
    if case == "in a thread":
        code = f"import threading\nthread = threading.Thread(target=exec, args=({code!r}, {{}}))\n"
        code += "failed = []\nthreading.excepthook = failed.append\nthread.start(); thread.join(); assert not failed\n"
    done = python_on(code, user=user)
    assert done.returncode == 0, done.stderr


def test_too_few_descriptors_are_an_error_that_says_so() -> None:
    done = python_on("import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\n" + WORKS)
    assert "may open 64 files (ulimit -Hn)" in done.stderr


RANDOM_DEATH = """
import sys, time
from termgym.sandbox import open_sandbox
from termgym.tasks.task import Task
print("ready", flush=True)
sandbox = open_sandbox(sys.argv[1])
print(sandbox._hello["pid"], flush=True)
number = 0
while True:
    number += 1
    session = sandbox.start(Task(id="t", instruction="", setup=f"echo {number // 3} > n; sleep 1236 & true"))
    session.step(b"setsid sleep 1236 & echo x > f", timeout=10)
    sandbox.run(["sh", "-c", "sleep 1236 & true"])
    sandbox.diff()
"""


def _sleepers() -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if (entry / "cmdline").read_bytes() == b"sleep\x001236\x00":
                    found.append(entry.name)
            except (FileNotFoundError, ProcessLookupError):
                continue
    return found


@pytest.mark.parametrize("backend", ["local", "local-unsafe"])
@pytest.mark.parametrize(
    "number",
    [
        signal.SIGKILL,
        signal.SIGTERM,
        pytest.param(signal.SIGHUP, marks=pytest.mark.slow),
        pytest.param(signal.SIGINT, marks=pytest.mark.slow),
    ],
)
def test_an_owner_that_ends_at_any_moment_leaves_nothing(backend: str, number: signal.Signals) -> None:
    """While it starts, builds, runs, compares: moments spread over the first second."""
    mounts = Path("/proc/self/mounts").read_text()
    for moment in range(5):
        victim = subprocess.Popen(
            [sys.executable, "-c", RANDOM_DEATH, backend],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(number, signal.SIG_DFL) if number != signal.SIGKILL else None,
        )  # with its usual signals: under nohup a process would outlive SIGHUP
        assert victim.stdout is not None
        assert victim.stdout.readline() == "ready\n"
        time.sleep(0.03 + 0.17 * moment)  # not to wait for something: the moment is what is tried
        victim.send_signal(number)
        said, complaint = victim.communicate(timeout=30)
        assert "supervisor.py" not in complaint, complaint
        assert until(lambda: _sleepers() == []), _sleepers()
        pid = said.strip()
        if pid:
            assert until(lambda pid=int(pid): not traces(pid)), traces(int(pid))  # type: ignore[misc]
    assert Path("/proc/self/mounts").read_text() == mounts


def _use_without_end(sandbox: LocalSandbox) -> None:
    for number in range(10_000):
        sandbox.start(Task(id="t", instruction="", setup=f"echo {number // 3} > n"))
        sandbox.run(["true"])
        sandbox.diff()


def test_the_supervisor_that_is_killed_at_any_moment_is_replaced() -> None:
    """Every request ends in an answer or in SandboxLost, and the next sandbox works."""
    for moment in range(8):
        sandbox = open_sandbox("local")
        assert isinstance(sandbox, LocalSandbox)
        pid = sandbox._hello["pid"]
        timer = threading.Timer(0.02 * (moment + 1), os.kill, (pid, signal.SIGKILL))
        timer.start()
        with pytest.raises(SandboxError):
            _use_without_end(sandbox)
        timer.join()
        sandbox.close()
        assert traces(pid) == []
    last = open_sandbox("local")
    assert last.start(EMPTY).alive
    last.close()


def test_many_are_opened_and_closed_in_any_order() -> None:
    sandboxes = [open_sandbox("local") for _ in range(12)]
    before = len(os.listdir("/proc/self/fd"))
    sessions = [sandbox.start(EMPTY) for sandbox in sandboxes]
    for sandbox, session in zip(sandboxes[::2], sessions[::2], strict=True):
        assert session.step(b"echo up", timeout=10).stdout == b"up\n"
        sandbox.close()
    for session in sessions[1::2]:
        assert session.step(b"echo still up", timeout=10).stdout == b"still up\n"
    for sandbox in reversed(sandboxes):
        sandbox.close()
    assert len(os.listdir("/proc/self/fd")) <= before
