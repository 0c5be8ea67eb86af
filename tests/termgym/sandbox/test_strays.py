"""What bubblewrap leaves when its supervisor is killed amid a start is found and ended; nothing else is."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psutil
import pytest
from machine_faults import kill_supervisor
from patience import until

from termgym.errors import SandboxLost
from termgym.sandbox import open_sandbox
from termgym.sandbox.bubblewrap import LAUNCH_FDS, executable
from termgym.sandbox.strays import BOOT, clear_strays, strays
from termgym.tasks.task import Task

INFO, GO, _, OPTIONS = LAUNCH_FDS
PROGRAM = ["sleep", "86393"]
MARKED = {"PATH": "/usr/bin:/bin", "MARK": f"strays-{os.getpid()}"}
EMPTY = Task(id="empty", instruction="")


@contextmanager
def started(options: int, *, heard: bool) -> Iterator[subprocess.Popen[bytes]]:
    """Start bubblewrap as a supervisor does, but from this process, and let it wait for the word to go on.

    Args:
        options: the number of the descriptor that its options come from.
        heard: whether there is anybody to hear the pid of its child; if not, that is what the outer process dies of.
    """
    words = ["--unshare-pid", "--die-with-parent", "--ro-bind", "/", "/", "--info-fd", str(INFO), "--block-fd", str(GO)]
    given = os.memfd_create("options")
    os.write(given, b"".join(word.encode() + b"\0" for word in words))
    os.lseek(given, 0, os.SEEK_SET)
    (info, info_end), (go_end, go) = os.pipe(), os.pipe()
    if not heard:
        os.close(info)

    def place() -> None:
        for theirs, ours in {options: given, INFO: info_end, GO: go_end}.items():
            os.dup2(ours, theirs)

    argv = [executable() or "bwrap", "--args", str(options), "--", *PROGRAM]
    process = subprocess.Popen(argv, preexec_fn=place, close_fds=False, env=MARKED)
    os.close(info_end)
    try:
        if heard:
            assert b"child-pid" in os.read(info, 4096)
            (inner,) = psutil.Process(process.pid).children()
            assert until(lambda: f" {GO:#x} " in Path(f"/proc/{inner.pid}/syscall").read_text())  # it reads there
        yield process
    finally:
        for inner in psutil.Process(process.pid).children() if process.poll() is None else []:
            inner.kill()
        process.kill()
        process.wait()
        for fd in (given, go_end, go, *([info] if heard else [])):
            os.close(fd)


def is_marked(process: psutil.Process) -> bool:
    """Return whether this module has started it."""
    try:
        return process.environ().get("MARK") == MARKED["MARK"]
    except psutil.Error:
        return False


def left_alone() -> psutil.Process:
    """Return the inner process of this module's whose outer one is gone."""
    (found,) = [
        each
        for each in psutil.process_iter()
        if is_marked(each) and each.ppid() != os.getpid() and psutil.Process(each.ppid()).name() != "bwrap"
    ]
    return found


@pytest.fixture
def stray() -> Iterator[psutil.Process]:
    """Yield an inner process whose outer one has died before its word."""
    with started(OPTIONS, heard=False) as outer:
        outer.wait(20)
        found = left_alone()
        yield found
        if found.is_running():
            found.kill()


def gone(process: psutil.Process) -> bool:
    return until(lambda: not process.is_running() or process.status() == psutil.STATUS_ZOMBIE)


def test_it_waits_for_ever_and_is_found_and_ended(stray: psutil.Process) -> None:
    time.sleep(0.1)
    assert stray.is_running()
    assert stray.pid in strays()
    clear_strays()
    assert gone(stray)


def test_one_that_went_on_by_itself_is_ended_with_its_program() -> None:
    """Amid its wait for its limits nothing binds it to a life either, and the end of that wait starts the program."""
    with started(OPTIONS, heard=True) as outer:
        (inner,) = psutil.Process(outer.pid).children()
        outer.kill()
        outer.wait()
    assert until(inner.children)
    programs = inner.children()
    assert programs[0].cmdline() == PROGRAM
    clear_strays()
    assert gone(inner)
    assert gone(programs[0])


def test_the_next_supervisor_ends_it(stray: psutil.Process) -> None:
    with closing(open_sandbox("local-unsafe")) as sandbox:  # each has a supervisor of its own
        sandbox.start(EMPTY)
    assert gone(stray)


def test_who_loses_a_supervisor_ends_it() -> None:
    sandbox = open_sandbox("local")
    sandbox.start(EMPTY)
    with started(OPTIONS, heard=False) as outer:
        outer.wait(20)
        found = left_alone()
        kill_supervisor()
        with pytest.raises(SandboxLost):
            sandbox.start(EMPTY)
        assert gone(found)
    sandbox.close()


def test_who_lives_and_who_is_somebody_elses_stays() -> None:
    with closing(open_sandbox("local")) as sandbox, started(OPTIONS - 100, heard=True) as others:
        shell = sandbox.start(EMPTY)
        with started(OPTIONS - 100, heard=False) as outer:
            outer.wait(20)
            forgotten = left_alone()
            clear_strays()
            assert not {each.pid for each in psutil.process_iter() if is_marked(each)} & {*strays()}
            assert shell.step(b"echo here", timeout=20).exit_code == 0
            assert others.poll() is None
            assert forgotten.is_running()
            forgotten.kill()
            assert gone(forgotten)


@pytest.mark.root  # an ordinary user has no such namespaces of its own
def test_what_a_container_s_supervisor_has_started_stays() -> None:
    """Seen from here, those are as deep in namespaces as what a supervisor out here starts is."""
    code = f"""
import os, subprocess  # as {BOOT!r} would
given = os.memfd_create("options")
os.write(given, b"--unshare-pid\\0--die-with-parent\\0--ro-bind\\0/\\0/\\0")
os.lseek(given, 0, os.SEEK_SET)
os.dup2(given, {OPTIONS})
subprocess.run([{executable()!r}, "--args", "{OPTIONS}", "--", *{PROGRAM}], close_fds=False)
"""
    argv = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", sys.executable, "-c", code]
    with subprocess.Popen(argv, env=MARKED) as container:
        try:
            ours = psutil.Process(container.pid)
            assert until(lambda: any(each.cmdline() == PROGRAM for each in ours.children(recursive=True)))
            assert not {each.pid for each in ours.children(recursive=True)} & {*strays()}
        finally:
            container.kill()
