"""What an agent tries in order to get out, to see more than its own, or to starve its neighbours."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator

import pytest
from machines import python_on

from termgym.sandbox import callfilter, open_sandbox
from termgym.sandbox.local import LocalSandbox
from termgym.session.session import Session
from termgym.tasks.task import HOME, FileSpec, Task

EMPTY = Task(id="empty", instruction="")
FILTERED = pytest.mark.skipif(
    callfilter.program(platform.machine()) is None, reason="no table of system calls for this architecture"
)


@pytest.fixture
def sandbox() -> Iterator[LocalSandbox]:
    opened = open_sandbox("local")
    assert isinstance(opened, LocalSandbox)
    yield opened
    opened.close()


def _output(session: Session, command: str) -> str:
    result = session.step(command.encode(), timeout=20)
    return (result.stdout + result.stderr).decode("utf-8", "replace").strip()


REACH_OUT = """
import ctypes, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
numbers = {"x86_64": (248, 250, 425), "aarch64": (217, 219, 425)}[os.uname().machine]
def call(*arguments):
    return "refused" if libc.syscall(*arguments) < 0 else "worked"
print("user namespace", "refused" if libc.unshare(0x10000000) < 0 else "worked")
print("key", call(numbers[0], b"user", b"rolf-test", b"x", 1, -2))
print("keyring", call(numbers[1], 0, -4, 1))
print("io_uring", call(numbers[2], 4, ctypes.create_string_buffer(120)))
for family in (40, 38, 17):
    try:
        socket.socket(family, socket.SOCK_STREAM if family == 40 else socket.SOCK_SEQPACKET)
        print("family", family, "worked")
    except OSError:
        print("family", family, "refused")
for family in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK):
    socket.socket(family, socket.SOCK_DGRAM).close()
pid = os.fork()
if not pid: os._exit(0)
os.waitpid(pid, 0)
import threading
thread = threading.Thread(target=print, args=("threads work",)); thread.start(); thread.join()
"""
REFUSED = [
    "user namespace refused", "key refused", "keyring refused", "io_uring refused", "family 40 refused",
    "family 38 refused", "family 17 refused", "threads work",
]  # fmt: skip


@FILTERED
def test_calls_that_reach_past_the_namespaces_are_refused(sandbox: LocalSandbox) -> None:
    """Keyrings and vsock belong to the host, and a user namespace undoes most limits. Everyday calls go on."""
    session = sandbox.start(Task(id="reach", instruction="", files=(FileSpec(f"{HOME}/r.py", REACH_OUT.encode()),)))
    assert _output(session, "python3 r.py").splitlines() == REFUSED
    beside = sandbox.run(["python3", "r.py"])
    assert beside.stdout.decode().splitlines() == REFUSED, beside.stderr
    assert _output(session, "cat /proc/keys /proc/key-users") == ""
    assert "call filter" not in sandbox.capabilities()["missing"]  # type: ignore[operator]


@FILTERED
@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_calls_are_refused_for_an_ordinary_user_too() -> None:
    done = python_on(
        f"""
from termgym.sandbox import open_sandbox
from termgym.tasks.task import FileSpec, Task
sandbox = open_sandbox("local")
task = Task(id="t", instruction="", files=(FileSpec("/home/agent/r.py", {REACH_OUT.encode()!r}),))
session = sandbox.start(task)
print(session.step(b"python3 r.py", timeout=20).stdout.decode(), end="")
print(sandbox.run(["python3", "r.py"]).stdout.decode(), end="")
sandbox.close()
""",
        user=True,
    )
    assert done.stdout.splitlines() == REFUSED * 2, done.stderr


def test_pid_1_shows_nothing_of_the_host(sandbox: LocalSandbox) -> None:
    """Its command line is the same in every sandbox, so that ``ps`` prints the same; all else is closed."""
    shown = set()
    with_company = open_sandbox("local")
    try:
        for each in (sandbox, with_company, sandbox, sandbox):
            session = each.start(EMPTY)
            shown.add(_output(session, "tr '\\0' ' ' </proc/1/cmdline; ps -eo args="))
            secrets = "cat /proc/1/environ; ls /proc/1/fd/ /proc/1/root/ /proc/1/cwd/; ls -d /proc/1/task/1/root/"
            assert _output(session, f"{{ {secrets}; }} 2>/dev/null") == ""
    finally:
        with_company.close()
    assert len(shown) == 1, shown
    assert "/work" not in next(iter(shown))


def test_terminals_of_the_host_cannot_be_used_up(sandbox: LocalSandbox) -> None:
    """Kernel.pty.max holds for all sandboxes together."""
    session = sandbox.start(EMPTY)
    take = "import os\nn = 0\ntry:\n  while n < 1000: os.open('/dev/ptmx', 2); n += 1\nexcept OSError: pass\nprint(n)"
    assert 16 <= int(_output(session, f'python3 -c "{take}"')) <= 64


MOVED = {
    "a file's folder": ("/home/agent/out", "mv /home/agent /home/x; mkdir /home/agent; ln -s /var /home/agent/out"),
    "a deep folder": ("/home/agent/a/b/out", "cd; mv a z; mkdir -p a/b; ln -s /var a/b/out"),
    "the place itself": ("/home/agent/out", "cd; rm -rf out; mv out z; ln -s /var out"),
}


@pytest.mark.parametrize("case", MOVED)
def test_a_read_only_path_cannot_be_led_to_the_host(sandbox: LocalSandbox, case: str) -> None:
    """A new shell mounts the path again; were it a link by then, the host's directory would appear in its place."""
    path, move = MOVED[case]
    files = (FileSpec(path, kind="dir", mode=0o755), FileSpec(f"{path}/kept", b"kept\n"))
    session = sandbox.start(Task(id=f"moved {case}", instruction="", files=files, read_only=(path,)))
    _output(session, f"{move}; exit")
    session = sandbox.respawn()
    assert _output(session, f"ls {path}") == "kept"
    assert "Read-only file system" in _output(session, f"touch {path}/x")


def test_a_read_only_path_through_a_link_is_refused(sandbox: LocalSandbox) -> None:
    task = Task(id="link", instruction="", files=(FileSpec(f"{HOME}/out", b"/etc", kind="symlink"),))
    bad = Task(id="link", instruction="", files=task.files, read_only=(f"{HOME}/out",))
    with pytest.raises(ValueError, match="symbolic link; name the real place"):
        sandbox.start(bad)
    assert _output(sandbox.start(EMPTY), "echo fine") == "fine"


HOMES = {"gone": "rm -rf /home/agent", "moved": "mv ~ /home/x", "a file": "rm -rf ~; touch ~", "locked": "chmod 0 ~"}


@pytest.mark.parametrize("case", HOMES)
def test_a_new_shell_starts_without_a_home(sandbox: LocalSandbox, case: str) -> None:
    """It is the agent's doing, so it must not look like a fault of the machine."""
    session = sandbox.start(EMPTY)
    _output(session, f"cd /; {HOMES[case]}; exit")
    assert _output(sandbox.respawn(), "pwd") == "/"


def test_checks_neither_wake_nor_wait_nor_read_the_kernel(sandbox: LocalSandbox) -> None:
    """What looks at files has more rights than the agent, who chooses where it looks."""
    session = sandbox.start(EMPTY)
    _output(session, "mkfifo pipe; (echo woken > pipe; touch written) & disown")
    _output(session, "ln -s /proc/1/environ env; ln -s /proc/kmsg log; ln -s /proc/kcore core; ln -s /dev/ptmx term")
    for name in ("pipe", "env", "log", "core", "term"):
        assert sandbox.read_file(f"{HOME}/{name}", 16) is None, name
    assert sandbox.read_file("/proc/self/status") is None
    assert _output(session, "ls -1") == "core\nenv\nlog\npipe\nterm"


def test_odd_paths_are_missing_ones(sandbox: LocalSandbox) -> None:
    sandbox.start(EMPTY)
    for path in ("/home/agent\0/x", "/tmp/\ud800", "/" + "x" * 5000, "/home/agent/" + "x" * 300, ""):
        assert sandbox.status(path) is None
        assert sandbox.read_file(path) is None
        assert sandbox.read_link(path) is None


LEASE = "import fcntl, signal, time; fcntl.fcntl(open('goal', 'r+'), fcntl.F_SETLEASE, fcntl.F_WRLCK); print('held', flush=True); signal.pause()"  # noqa: E501 - one line for python3 -c


def test_a_lease_on_a_file_keeps_no_reader_waiting(sandbox: LocalSandbox) -> None:
    session = sandbox.start(Task(id="lease", instruction="", files=(FileSpec(f"{HOME}/goal", b"text"),)))
    _output(session, f'python3 -c "{LEASE}" > out 2>&1 & disown; until [ -s out ]; do sleep 0.01; done')
    assert sandbox.read_file(f"{HOME}/goal") in (None, b"text")


def test_renaming_without_end_does_not_break_a_look(sandbox: LocalSandbox) -> None:
    session = sandbox.start(Task(id="rename", instruction="", files=(FileSpec(f"{HOME}/a/b/c/f", b"text"),)))
    swap = "import os\nwhile True:\n  os.rename('a', 'z'); os.rename('z', 'a')"
    _output(session, f'ln -s a/b/../b/../b/../b/c/../../b/c/f link; echo "{swap}" > s.py; python3 s.py & disown')
    seen = {sandbox.read_file(f"{HOME}/link") for _ in range(3000)}
    assert seen <= {None, b"text"}
    assert b"text" in seen
