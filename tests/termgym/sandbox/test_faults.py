"""What the sandbox says and does on machines that lack something, and when something is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from machines import python_on
from patience import until
from warden import traces

from termgym.errors import SandboxLost, SandboxUnavailable, TaskError
from termgym.sandbox import open_sandbox
from termgym.sandbox.client import isolated_supervisor
from termgym.sandbox.protocol import Sandbox
from termgym.tasks.task import FileSpec, Limits, Service, Task

EMPTY = Task(id="empty", instruction="")
NEEDS_ROOT = "import os; assert os.getuid() == 0"


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    opened = open_sandbox("local")
    yield opened
    opened.close()


OPEN = """
from termgym.errors import SandboxUnavailable
from termgym.sandbox import open_sandbox
try:
    open_sandbox("local").close()
except SandboxUnavailable as error:
    print(error)
unsafe = open_sandbox("local-unsafe")
from termgym.tasks.task import Task
session = unsafe.start(Task(id="t", instruction=""))
print(session.step(b"echo works", timeout=10).stdout.decode().strip())
unsafe.close()
"""


def test_missing_bubblewrap_is_named_with_the_line_that_installs_it() -> None:
    done = python_on(OPEN, setup=("mount --bind /dev/null $(command -v bwrap)",))
    assert done.returncode == 0, done.stderr
    assert "apt-get install bubblewrap" in done.stdout
    assert done.stdout.endswith("works\n")


def test_a_machine_without_namespaces_is_refused_with_the_reasons() -> None:
    """As in a container without privileges: no CAP_SYS_ADMIN, no user namespaces. What is missing is said."""
    done = python_on(
        OPEN,
        setup=("unshare --user --map-root-user sh -c 'true'",),
        wrap=(
            "bwrap", "--unshare-user", "--disable-userns", "--dev-bind", "/", "/", "--cap-drop", "ALL", "--",
        ),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "namespace" in done.stdout
    assert "local-unsafe" in done.stdout
    assert done.stdout.endswith("works\n")


def test_an_unknown_backend_is_refused_with_the_allowed_ones() -> None:
    with pytest.raises(ValueError, match=r"'docked'.*'local', 'local-unsafe'"):
        open_sandbox("docked")


def test_a_failing_setup_shows_its_output(sandbox: Sandbox) -> None:
    with pytest.raises(TaskError, match=r"exit status 3.*\n.*told you"):
        sandbox.start(Task(id="bad", instruction="", setup="echo told you; exit 3"))
    assert sandbox.start(EMPTY).step(b"echo ok", timeout=10).stdout.strip() == b"ok"


def test_a_file_outside_the_writable_roots_is_refused(sandbox: Sandbox) -> None:
    for path in ("/etc/passwd", "/home/agent/../../etc/x", "relative"):
        with pytest.raises(TaskError, match="lies outside what a task may write"):
            sandbox.start(Task(id=path, instruction="", files=(FileSpec(path, b"x"),)))


def test_services_are_ready_before_the_first_command(sandbox: Sandbox) -> None:
    task = Task(
        id="service",
        instruction="",
        services=(Service(("/usr/bin/python3", "-m", "http.server", "8123"), ready_port=8123),),
    )
    session = sandbox.start(task)
    assert 8123 in sandbox.listening_ports()
    assert session.step(b"exec 9<>/dev/tcp/127.0.0.1/8123 && echo open", timeout=10).stdout.strip() == b"open"
    assert [process.argv[-1] for process in sandbox.processes()] == ["8123"]


def test_read_only_paths_refuse_writes(sandbox: Sandbox) -> None:
    files = (FileSpec("/home/agent/out", kind="dir", mode=0o755),)
    session = sandbox.start(Task(id="ro", instruction="", files=files, read_only=("/home/agent/out",)))
    result = session.step(b"touch out/x", timeout=10)
    assert result.exit_code == 1
    assert b"Read-only file system" in result.stderr


def test_a_killed_supervisor_is_an_infrastructure_fault_and_the_next_sandbox_works() -> None:
    sandbox = open_sandbox("local")
    session = sandbox.start(EMPTY)
    supervisor = isolated_supervisor()
    pid = sandbox._hello["pid"]  # type: ignore[attr-defined]
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(SandboxLost):
        sandbox.diff()
    session.close()
    sandbox.close()
    assert supervisor.lost
    again = open_sandbox("local")
    try:
        assert again.start(EMPTY).step(b"echo back", timeout=10).stdout.strip() == b"back"
    finally:
        again.close()


VICTIM = """
import sys, time
from termgym.sandbox import open_sandbox
from termgym.tasks.task import Task
sandbox = open_sandbox(sys.argv[1])
session = sandbox.start(Task(id="t", instruction=""))
session.step(b"setsid sleep 1234 & (setsid sleep 1234 &); echo x > f", timeout=10)
print(sandbox._hello["pid"], *sandbox._pids(), flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("backend", ["local", "local-unsafe"])
def test_kill_9_of_the_owner_leaves_nothing(backend: str) -> None:
    mounts = Path("/proc/self/mounts").read_text()
    victim = subprocess.Popen([sys.executable, "-c", VICTIM, backend], stdout=subprocess.PIPE, text=True)
    assert victim.stdout is not None
    pids = [int(word) for word in victim.stdout.readline().split()]
    assert len(pids) >= 4
    assert traces(pids[0]) or os.getuid() != 0
    victim.kill()
    victim.wait()
    victim.stdout.close()
    assert until(lambda: not any(_alive(pid) for pid in pids)), [pid for pid in pids if _alive(pid)]
    assert until(lambda: not traces(pids[0])), traces(pids[0])
    assert Path("/proc/self/mounts").read_text() == mounts


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def test_a_fork_bomb_ends_with_the_step(sandbox: Sandbox) -> None:
    """Under a limit that was seen to bite, and RLIMIT_NPROC behind it."""
    session = sandbox.start(Task(id="bomb", instruction="", limits=Limits(processes=64)))
    assert sandbox.capabilities()["limits"]["processes"] in ("cgroup-v1", "cgroup-v2", "rlimit")  # type: ignore[index]
    limits = session.step(b"ulimit -u", timeout=10).stdout.strip()
    assert limits.isdigit(), "no second fence"
    session.step(b":(){ :|:& };:", timeout=2)
    sandbox.kill()
    assert sandbox.processes() == ()
    assert sandbox.start(EMPTY).step(b"echo ok", timeout=10).stdout.strip() == b"ok"


def test_memory_hogs_are_killed_and_counted(sandbox: Sandbox) -> None:
    session = sandbox.start(Task(id="hog", instruction="", limits=Limits(memory_bytes=128 << 20)))
    sandbox.begin_step()
    result = session.step(b"python3 -c 'x = b\"x\" * (400 << 20); print(len(x))'", timeout=20)
    assert b"419430400" not in result.stdout
    assert result.exit_code != 0
    if sandbox.capabilities()["limits"]["memory"] != "rlimit":  # type: ignore[index]
        assert sandbox.metrics().oom_kills >= 1


def test_metrics_see_what_children_of_the_shell_use(sandbox: Sandbox) -> None:
    session = sandbox.start(EMPTY)
    sandbox.begin_step()
    session.step(b"python3 -c 'x = b\"x\" * (100 << 20); sum(range(10**6))'", timeout=20)
    used = sandbox.metrics()
    by = sandbox.capabilities()["limits"]["memory"]  # type: ignore[index]
    assert used.source == (by if by.startswith("cgroup") else "proc")
    assert used.cpu_s is not None
    assert used.cpu_s > 0.01
    sandbox.begin_step()
    session.step(b"true", timeout=20)
    after = sandbox.metrics()
    assert after.cpu_s is not None
    assert after.cpu_s < used.cpu_s
    if used.source.startswith("cgroup"):
        assert used.peak_bytes is not None
        assert after.peak_bytes is not None
        assert used.peak_bytes > 100 << 20 > after.peak_bytes


def test_small_steps_in_a_row_hide_no_large_one(sandbox: Sandbox) -> None:
    """After a builtin the peak is not looked at each time."""
    session = sandbox.start(EMPTY)
    peaks = []
    for command in (b"true", b"true", b"python3 -c 'x = b\"x\" * (100 << 20)'", b"true", b"true"):
        sandbox.begin_step()
        session.step(command, timeout=20)
        used = sandbox.metrics()
        peaks.append(used.peak_bytes)
    if used.source.startswith("cgroup"):
        large = [peak is not None and peak > 100 << 20 for peak in peaks]
        assert large == [False, False, True, False, False], peaks


def test_frozen_clock_stops_the_date_and_not_the_sleep() -> None:
    sandbox = open_sandbox("local", clock="frozen")
    try:
        session = sandbox.start(EMPTY)
        result = session.step(b"date -u +%FT%TZ; sleep 0.2; date -u +%FT%TZ", timeout=10)
        assert result.stdout.split() == [b"2026-01-01T00:00:00Z"] * 2
    finally:
        sandbox.close()


def test_a_full_disk_is_the_agents_error_and_not_the_sandboxs(sandbox: Sandbox) -> None:
    session = sandbox.start(Task(id="full", instruction="", limits=Limits(disk_bytes=4 << 20)))
    result = session.step(b"head -c 8M /dev/zero > big", timeout=20)
    assert result.exit_code == 1
    assert b"No space left" in result.stderr
    assert session.step(b"rm big; echo room > small; cat small", timeout=10).stdout.strip() == b"room"


def test_a_fork_uses_a_supervisor_of_its_own(sandbox: Sandbox) -> None:
    sandbox.start(EMPTY)
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            child = open_sandbox("local")
            said = child.start(EMPTY).step(b"echo child", timeout=10).stdout.strip()
            child.close()
            os.write(writer, said)
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    os.close(writer)
    assert os.read(reader, 100) == b"child"
    os.close(reader)
    assert sandbox.start(EMPTY).step(b"echo parent", timeout=10).stdout.strip() == b"parent"


def test_closing_twice_is_closing_once(sandbox: Sandbox) -> None:
    sandbox.start(EMPTY)
    machine = Path(f"/proc/{sandbox._hello['pid']}/root/mnt/m{sandbox._machine}")  # type: ignore[attr-defined]
    assert machine.is_dir()
    sandbox.close()
    sandbox.close()
    assert not machine.exists()


def test_unavailable_clock_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'sundial'.*'real' and 'frozen'"):
        open_sandbox("local", clock="sundial")
    with pytest.raises(ValueError, match="needs backend='local'"):
        open_sandbox("local-unsafe", clock="frozen")
    assert issubclass(SandboxUnavailable, RuntimeError)


READ_ONLY = ("mount -o remount,bind,ro /",)


def test_a_read_only_disk_does_not_stop_the_isolated_sandbox() -> None:
    """Its trees live in memory. The unisolated one needs a folder, and says so."""
    done = python_on(
        """
from termgym.errors import TermGymError
from termgym.sandbox import open_sandbox
from termgym.tasks.task import Task
try:
    open("/probe", "w")
except OSError as error:
    print("disk:", error.strerror)
sandbox = open_sandbox("local")
print(sandbox.start(Task(id="t", instruction="")).step(b"echo x > f; cat f", timeout=10).stdout)
sandbox.close()
try:
    open_sandbox("local-unsafe")
except TermGymError as error:
    print(error)
""",
        setup=READ_ONLY,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:2] == ["disk: Read-only file system", r"b'x\n'"]
    assert "TMPDIR" in lines[2]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_home_with_100_000_files_is_put_back_and_compared(sandbox: Sandbox) -> None:
    setup = """python3 - <<'PY'
import os
for d in range(1000):
    os.mkdir(f"d{d}")
    for f in range(100):
        with open(f"d{d}/f{f}", "w") as file:
            file.write(f"{d} {f}")
PY"""
    task = Task(id="large", instruction="", setup=setup)
    session = sandbox.start(task)
    assert session.step(b"find . -type f | wc -l", timeout=60).stdout.strip() == b"100000"
    session.step(b"rm d7/f7; echo x >> d8/f8; echo new > new", timeout=10)
    changed = [(change.path, change.kind.value) for change in sandbox.diff()]
    home = "/home/agent"
    assert changed == [(f"{home}/d7/f7", "removed"), (f"{home}/d8/f8", "content"), (f"{home}/new", "added")]
    sandbox.start(task)
    assert sandbox.diff() == ()


@pytest.mark.root
def test_a_machine_that_lets_no_proc_be_mounted_is_refused_with_what_helps() -> None:
    """As docker without ``systempaths=unconfined``: the kernel mounts no new /proc where the old one is masked."""
    done = python_on(OPEN, user=True, setup=("mount --bind /dev/null /proc/interrupts",))
    assert done.returncode == 0, done.stderr
    assert "bubblewrap cannot build a sandbox" in done.stdout
    assert "systempaths=unconfined" in done.stdout
    assert done.stdout.endswith("works\n")


def test_a_check_sees_nothing_of_the_kernels_that_the_agent_may_not(sandbox: Sandbox) -> None:
    """A plan's own checks would else tell the agent, bit by bit, what only root may read."""
    session = sandbox.start(EMPTY)
    session.step(b"ln -s /proc/1/environ out; ln -s /proc/kallsyms names", timeout=10)
    for path in ("/proc/1/environ", "/proc/kallsyms", "/proc/1/mem", "/home/agent/out", "/home/agent/names"):
        assert sandbox.read_file(path) is None
    assert sandbox.read_file("/etc/hostname") == b"rolf\n"


def test_what_is_missing_is_told_in_the_same_words_in_every_run() -> None:
    """It stands in ``info`` and so in trajectories: a pid or a random name there, and no two runs leave equal files."""
    code = (
        "import json\nfrom termgym.sandbox import open_sandbox\nsandbox = open_sandbox('local')\n"
        "print(json.dumps(sandbox.capabilities()))\nsandbox.close()"
    )
    first, second = python_on(code, user=True), python_on(code, user=True)
    assert first.returncode == 0, first.stderr
    assert json.loads(first.stdout)["missing"]
    assert first.stdout == second.stdout
