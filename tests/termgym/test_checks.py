"""What each check says of a machine, on a plain directory and in the real sandbox."""

from __future__ import annotations

import errno
import hashlib
import os
import shlex
import stat
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import psutil
import pytest

from termgym.checking import HASH_LIMIT, TEXT_LIMIT, describe, evaluate, evaluate_all, watched
from termgym.checks import (
    Check,
    CommandSucceeds,
    FileAbsent,
    FileExists,
    FileHash,
    FileMode,
    LinkTarget,
    OutputContains,
    PortOpen,
    ProcessRunning,
    TextInFile,
    VariableSet,
)
from termgym.errors import SandboxError, SandboxLost
from termgym.event import Event
from termgym.result import Completed, StepResult
from termgym.reward.facts import CheckResult
from termgym.sandbox import open_sandbox
from termgym.sandbox.protocol import FileStatus, Inspector, Process
from termgym.tasks.task import HOME, Task

LISTEN = "import socket, time; s = socket.socket(); s.bind(('127.0.0.1', {port})); s.listen(); time.sleep(300)"


class DirectoryInspector:
    """A machine that is this host, seen through a directory: the smallest thing that checks work on."""

    def __init__(self) -> None:
        self.started: list[subprocess.Popen[bytes]] = []

    def status(self, path: str) -> FileStatus | None:
        try:
            found = os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        kinds = {stat.S_IFREG: "file", stat.S_IFDIR: "dir", stat.S_IFLNK: "symlink", stat.S_IFIFO: "fifo"}
        kind = kinds.get(stat.S_IFMT(found.st_mode), "device")
        return FileStatus(kind, stat.S_IMODE(found.st_mode), found.st_size, found.st_uid, found.st_gid)

    def read_file(self, path: str, limit: int = 1 << 20) -> bytes | None:
        try:
            if not stat.S_ISREG(os.stat(path).st_mode):
                return None
            with open(path, "rb") as file:
                return file.read(limit)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def read_link(self, path: str) -> str | None:
        return os.readlink(path) if os.path.islink(path) else None

    def processes(self) -> tuple[Process, ...]:
        alive = [psutil.Process(each.pid) for each in self.started if each.poll() is None]
        return tuple(Process(each.pid, tuple(each.cmdline()), each.status()[0].upper()) for each in alive)

    def listening_ports(self) -> frozenset[int]:
        alive = [psutil.Process(each.pid) for each in self.started if each.poll() is None]
        return frozenset(each.laddr.port for one in alive for each in one.net_connections() if each.status == "LISTEN")

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout: float = 10.0,
        stdin: bytes = b"",
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Completed:
        try:
            ended = subprocess.run(
                argv, capture_output=True, input=stdin, cwd=cwd, env=env, timeout=timeout, check=False
            )
        except subprocess.TimeoutExpired:
            return Completed(137, b"", b"", timed_out=True)
        return Completed(ended.returncode, ended.stdout, ended.stderr)


class Starter(Protocol):
    def __call__(self, *argv: str) -> None: ...


class Machine(NamedTuple):
    inspector: Inspector
    home: str
    start: Starter
    """Start a program that runs on."""

    def sh(self, script: str) -> None:
        done = self.inspector.run(["/bin/bash", "-c", f"cd {shlex.quote(self.home)}\n{script}"], timeout=20)
        assert done.exit_code == 0, done.stderr

    def check(self, check: Check, result: StepResult | None = None, cwd: str | None = None) -> CheckResult:
        return evaluate(check, self.inspector, result, cwd or self.home, self.home)


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Machine]:
    inspector = DirectoryInspector()
    yield Machine(inspector, str(tmp_path), lambda *argv: inspector.started.append(subprocess.Popen(argv)))
    for each in inspector.started:
        each.kill()
        each.wait()


@pytest.fixture
def sandbox() -> Iterator[Machine]:
    box = open_sandbox("local")
    try:
        session = box.start(Task(id="checks/none@0", instruction="None."))

        def start(*argv: str) -> None:
            session.step(f"{shlex.join(argv)} &".encode(), timeout=10)

        yield Machine(box, HOME, start)
    finally:
        box.close()


@pytest.fixture(params=["directory", "sandbox"])
def machine(request: pytest.FixtureRequest) -> Machine:
    found: Machine = request.getfixturevalue(request.param)
    return found


def eventually(machine: Machine, check: Check) -> CheckResult:
    """Return a check's result as soon as it passes: a program that was started needs a moment to get there."""
    deadline = time.monotonic() + 20
    while not (found := machine.check(check)).passed and time.monotonic() < deadline:
        os.sched_yield()
    return found


def test_files_and_directories(machine: Machine) -> None:
    machine.sh("mkdir d; echo hello > d/f; ln -s d/f l; ln -s nowhere dangling")
    assert machine.check(FileExists(path="d/f")).passed
    assert machine.check(FileExists(path="d", kind="dir")).passed
    assert machine.check(FileExists(path="l", kind="symlink")).passed
    assert machine.check(FileExists(path="dangling")).passed
    assert machine.check(FileExists(path="d", kind="file")).detail == "is a dir, wanted a file"
    assert machine.check(FileExists(path="no")) == CheckResult("file_exists no", False, "does not exist")
    assert machine.check(FileAbsent(path="no")).passed
    assert machine.check(FileAbsent(path="dangling")).detail == "there is a symlink of this name"


def test_paths_start_where_the_shell_stands(machine: Machine) -> None:
    """The agent writes paths as it would at its prompt."""
    machine.sh("mkdir -p a/b; echo x > a/b/f")
    for path in ("f", "./f", "../b/f", "~/a/b/f", f"{machine.home}/a/b/f", f"//{machine.home}/a//b/./f"):
        assert machine.check(FileExists(path=path), cwd=f"{machine.home}/a/b").passed, path
    assert machine.check(FileExists(path="~", kind="dir"), cwd="/").passed
    assert machine.check(FileExists(path="../../../../../../../../..", kind="dir")).passed
    machine.sh("touch ./~x")
    assert machine.check(FileExists(path="~x")).passed


def test_text_in_file(machine: Machine) -> None:
    machine.sh("printf 'first\\nport = 80\\nlast' > f; printf '\\xff\\xfeport' > bin; mkdir d")
    assert machine.check(TextInFile(path="f", pattern=r"^port\s*=\s*80$")).passed
    assert machine.check(TextInFile(path="f", pattern="(?i)LAST")).passed
    assert machine.check(TextInFile(path="f", pattern="81", negate=True)).passed
    assert machine.check(TextInFile(path="bin", pattern="port")).passed
    assert machine.check(TextInFile(path="f", pattern="81")).detail == "no match in the file"
    assert machine.check(TextInFile(path="f", pattern="80", negate=True)).detail == "there is a match"
    for path in ("no", "d", "f/g"):
        assert machine.check(TextInFile(path=path, pattern="x")).detail == "is no file that can be read"
        assert not machine.check(TextInFile(path=path, pattern="x", negate=True)).passed


def test_text_beyond_the_limit_passes_neither_way(machine: Machine) -> None:
    """An agent must not get past a check by pushing the text out of sight."""
    machine.sh(f"head -c {TEXT_LIMIT} /dev/zero | tr '\\0' a > f; echo secret >> f; head -c {TEXT_LIMIT} f > exact")
    assert machine.check(TextInFile(path="f", pattern="a")).passed
    for negate in (False, True):
        assert (
            "the rest is not looked at" in machine.check(TextInFile(path="f", pattern="secret", negate=negate)).detail
        )
    assert machine.check(TextInFile(path="exact", pattern="secret", negate=True)).passed


@pytest.mark.parametrize("pattern", [r"(a|aa)+$", r"(a|a|b)*c", r"^(([a-z])+.)+[A-Z]([a-z])+$", r"(?:a?){60}a{60}b"])
def test_a_pattern_that_backtracks_without_end_is_stopped(directory: Machine, pattern: str) -> None:
    """It would otherwise hold up every environment of the process; either answer is "not shown", so neither passes."""
    directory.sh("head -c 100000 /dev/zero | tr '\\0' a > f; echo '!' >> f")
    began = time.process_time()
    found = directory.check(TextInFile(path="f", pattern=pattern))
    assert time.process_time() - began < 5
    assert not found.passed
    if "backtracks less" in found.detail:
        assert not directory.check(TextInFile(path="f", pattern=pattern, negate=True)).passed


def test_at_least_one_hostile_pattern_really_is_stopped(directory: Machine) -> None:
    """So that the check above cannot pass because the engine has learnt all its patterns."""
    directory.sh("head -c 100000 /dev/zero | tr '\\0' a > f; echo '!' >> f")
    assert "backtracks less" in directory.check(TextInFile(path="f", pattern=r"(a|aa)+$")).detail


def test_digest(machine: Machine) -> None:
    machine.sh("echo hello > f")
    digest = hashlib.sha256(b"hello\n").hexdigest()
    assert machine.check(FileHash(path="f", sha256=digest)).passed
    assert machine.check(FileHash(path="f", sha256="0" * 64)).detail == f"is {digest}"
    assert not machine.check(FileHash(path="no", sha256=digest)).passed


def test_a_file_too_large_for_a_digest_fails_with_advice(machine: Machine) -> None:
    machine.sh(f"truncate -s {HASH_LIMIT + 1} f")
    assert "use a command check" in machine.check(FileHash(path="f", sha256="0" * 64)).detail


def test_mode(machine: Machine) -> None:
    machine.sh("touch f; chmod 750 f; mkdir d; chmod 1777 d; ln -s f l; ln -s l m; ln -s loop loop; ln -s d/../f far")
    assert machine.check(FileMode(path="f", mode="0750")).passed
    assert machine.check(FileMode(path="f", mode="750")).passed
    assert machine.check(FileMode(path="d", mode="1777")).passed
    assert machine.check(FileMode(path="m", mode="0750")).passed
    assert machine.check(FileMode(path="far", mode="0750")).passed
    assert machine.check(FileMode(path="f", mode="0755")).detail == "is 0750"
    assert not machine.check(FileMode(path="loop", mode="0777")).passed
    assert not machine.check(FileMode(path="no", mode="0777")).passed


def test_link(machine: Machine) -> None:
    machine.sh("ln -s ../x l; touch f")
    assert machine.check(LinkTarget(path="l", target="../x")).passed
    assert machine.check(LinkTarget(path="l", target="x")).detail == "points at '../x'"
    assert machine.check(LinkTarget(path="f", target="x")).detail == "is no symbolic link"


def test_process(machine: Machine) -> None:
    machine.start("sleep", "314.15")
    assert eventually(machine, ProcessRunning(pattern=r"^sleep 314\.15$")).passed
    assert machine.check(ProcessRunning(pattern="sleep 314", negate=True)).detail == "there is such a process"
    assert machine.check(ProcessRunning(pattern="no-such-program")).detail == "no such process"
    assert machine.check(ProcessRunning(pattern="no-such-program", negate=True)).passed


def test_port(machine: Machine) -> None:
    machine.start("/usr/bin/python3", "-c", LISTEN.format(port=18431))
    assert eventually(machine, PortOpen(port=18431)).passed
    assert machine.check(PortOpen(port=18431, negate=True)).detail == "something listens there"
    assert machine.check(PortOpen(port=18432)).detail == "nothing listens there"
    assert machine.check(PortOpen(port=18432, negate=True)).passed


def test_command(machine: Machine) -> None:
    machine.sh("mkdir -p d 'a b'; echo hello > d/f; ln -s d l")
    assert machine.check(CommandSucceeds(command="test -s d/f")).passed
    assert machine.check(CommandSucceeds(command="false", exit_code=1)).passed
    assert machine.check(CommandSucceeds(command="cat f", cwd="d", pattern="^hel+o$")).passed
    assert machine.check(CommandSucceeds(command="ls f"), cwd=f"{machine.home}/d").passed
    assert machine.check(CommandSucceeds(command="true", cwd="~/a b")).passed
    assert machine.check(CommandSucceeds(command="# comment\nif true; then\n exit 3\nfi", exit_code=3)).passed
    assert machine.check(CommandSucceeds(command="cat d/f", pattern="bye")).detail == "printed 'hello\\n'"
    failed = machine.check(CommandSucceeds(command="echo why >&2; exit 7"))
    assert failed.detail == "ended with 7, wanted 0: why"
    assert machine.check(CommandSucceeds(command="sleep 60", timeout=0.2)).detail == "ran past 0.2 s"


def test_a_command_whose_directory_is_gone_fails_and_says_so(machine: Machine) -> None:
    """Even one that is expected to fail: it never ran."""
    found = machine.check(CommandSucceeds(command="false", exit_code=1, cwd="gone"))
    assert not found.passed
    assert "gone" in found.detail


def test_output(directory: Machine) -> None:
    result = StepResult(Event.DONE, 0, stdout=b"one\ntwo\n", stderr=b"\xffwarn\n")
    assert directory.check(OutputContains(pattern="^two$"), result).passed
    assert directory.check(OutputContains(pattern="warn", stream="stderr"), result).passed
    assert directory.check(OutputContains(pattern="warn"), result).detail == "no match in stdout"
    assert not directory.check(OutputContains(pattern="two"), None).passed


def test_variable(directory: Machine) -> None:
    result = StepResult(Event.DONE, 0, variables={"A": "1\n2", "E": ""})
    assert directory.check(VariableSet(name="A"), result).passed
    assert directory.check(VariableSet(name="A", pattern=r"\d\n\d"), result).passed
    assert directory.check(VariableSet(name="A", pattern="1"), result).detail == r"is '1\n2'"
    assert not directory.check(VariableSet(name="E"), result).passed
    assert "not set" in directory.check(VariableSet(name="B"), result).detail
    assert "not set" in directory.check(VariableSet(name="B"), None).detail
    told = evaluate(VariableSet(name="B", pattern="x"), directory.inspector, result, "/", "/", {"B": "x"})
    assert told.passed


def test_paths_that_no_file_can_have_fail_quietly(machine: Machine) -> None:
    """Too long a name, a file used as a directory, links in a circle: the agent's doing, never an exception."""
    machine.sh("touch f; ln -s loop loop")
    for path in ("x" * 300, "x/" * 2000, "f/g", "loop/x", "\x01\n", "~/" + "y" * 4000):
        for check in (
            FileExists(path=path),
            TextInFile(path=path, pattern="x"),
            FileHash(path=path, sha256="0" * 64),
            FileMode(path=path, mode="0644"),
            LinkTarget(path=path, target="x"),
        ):
            assert not machine.check(check).passed, (path[:20], check)


@pytest.mark.parametrize("path", ["/proc/self/attr/exec", "/sys/class/net/lo/speed", "/dev/tty", "/dev/null"])
def test_what_the_kernel_makes_up_fails_quietly(machine: Machine, path: str) -> None:
    for check in (TextInFile(path=path, pattern="never there"), FileHash(path=path, sha256="0" * 64)):
        assert not machine.check(check).passed


@pytest.mark.parametrize("code", [errno.EAGAIN, errno.EPERM, errno.ENXIO, errno.ENODATA, errno.EINVAL])
def test_an_error_that_only_odd_files_give_fails_quietly(code: int) -> None:
    """/proc/kmsg says "try again", a socket "no such device": the agent named it, so its forecast is wrong."""

    class Odd(DirectoryInspector):
        def read_file(self, path: str, limit: int = 1 << 20) -> bytes | None:
            raise OSError(code, os.strerror(code))

    result = evaluate(TextInFile(path="x", pattern="."), Odd(), None, "/", "/")
    assert (result.passed, result.detail) == (False, os.strerror(code))


def test_a_fault_of_the_machine_is_not_a_failed_check() -> None:
    """An agent must not be punished for an infrastructure fault."""

    class Lost(DirectoryInspector):
        def status(self, path: str) -> FileStatus | None:
            raise SandboxLost("gone")

    with pytest.raises(SandboxLost):
        evaluate(FileExists(path="x"), Lost(), None, "/", "/")


def test_an_input_output_error_is_not_a_failed_check() -> None:
    """A step never raises: the fault is the machine's, so it comes as one that an episode masks."""

    class Broken(DirectoryInspector):
        def status(self, path: str) -> FileStatus | None:
            raise OSError(5, "Input/output error")

    with pytest.raises(SandboxError, match=r"file_exists x: the machine answered .*Input/output error"):
        evaluate(FileExists(path="x"), Broken(), None, "/", "/")


def test_all_results_come_in_the_order_given(directory: Machine) -> None:
    directory.sh("touch f")
    checks: list[Check] = [CommandSucceeds(command="true"), FileExists(path="no"), FileExists(path="f")]
    found = evaluate_all(checks, directory.inspector, None, directory.home, directory.home)
    assert [each.passed for each in found] == [True, False, True]
    assert [each.check for each in found] == ["command true", "file_exists no", "file_exists f"]


def test_the_first_failure_comes_cheap(directory: Machine) -> None:
    """The goal is looked at after every step; a command must not run where one look at a file already says no."""
    checks: list[Check] = [CommandSucceeds(command="touch ran"), FileExists(path="no"), FileExists(path="f")]
    found = evaluate_all(checks, directory.inspector, None, directory.home, directory.home, stop_at_first_failure=True)
    assert [(each.check, each.passed) for each in found] == [("file_exists no", False)]
    assert not os.path.exists(f"{directory.home}/ran")
    directory.sh("touch no f")
    found = evaluate_all(checks, directory.inspector, None, directory.home, directory.home, stop_at_first_failure=True)
    assert [each.check for each in found] == ["command touch ran", "file_exists no", "file_exists f"]
    assert all(each.passed for each in found)


def test_a_check_is_told_in_words() -> None:
    assert describe(FileExists(path="./logs/out.log")) == "file_exists ./logs/out.log"
    assert describe(FileExists(path="d", kind="dir")) == "file_exists d kind='dir'"
    assert describe(TextInFile(path="f", pattern="a b", negate=True)) == "text_in_file f pattern='a b' negate=True"
    assert describe(PortOpen(port=80)) == "port_open 80"
    assert describe(VariableSet(name="A")) == "variable A"
    assert describe(CommandSucceeds(command="make test", timeout=60)) == "command make test timeout=60.0"
    assert describe(OutputContains(pattern="ok")) == "output pattern='ok'"
    assert describe(ProcessRunning(pattern="x", negate=True)) == "process_running pattern='x' negate=True"


def test_names_the_variables_to_watch() -> None:
    assert watched([VariableSet(name="B"), FileExists(path="x"), VariableSet(name="A"), VariableSet(name="B")]) == (
        "A",
        "B",
    )
