"""The peers that benchmarks/terminal.py measures beside TermEnv, each the way its own documentation uses it."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from time import perf_counter

import gymnasium

Call = Callable[[], object]
STEP_BARS = {
    "pexpect, no delay": 0.25,
    "pexpect, default": 0.01,
    "tmux": 0.01,
    "subprocess, bash -c": None,
    "SWE-ReX local": None,
}
SLOW = ("pexpect, default", "tmux", "SWE-ReX local")

CHANGE_TEN = (
    "set -- $(ls -d d*/f* | head -n 10); rm $1; echo x >> $2; echo x >> $3; chmod 600 $4; touch -d @1 $5; "
    "echo y > $6; ln -sf a $7; echo z > $8; chmod 640 $9; echo w > d0/new"
)
"""Ten paths changed, one way or another."""


class Missing(Exception):
    """A peer is not installed; the message says how to get it."""


def enter(stack: ExitStack, peer: Callable[[], AbstractContextManager[Call]], name: str) -> Call | None:
    """Return the peer's call, or say that it is missing and return None."""
    try:
        return stack.enter_context(peer())
    except Missing as missing:
        print(f"{name}: not measured, {missing}", file=sys.stderr)
        return None


@contextmanager
def pexpect_sentinel(delay: float | None) -> Iterator[Call]:
    if importlib.util.find_spec("pexpect") is None:
        raise Missing("pip install pexpect")
    import pexpect

    child = pexpect.spawn("/bin/bash", ["--norc", "--noprofile"], encoding="utf-8", echo=False, timeout=10)
    if delay is None:
        child.delaybeforesend = None
    child.sendline("PS1=; unset PROMPT_COMMAND; echo READY$((1+1))")
    child.expect("READY2\r\n")

    def call() -> None:
        child.sendline("true; echo S:$?:E")
        child.expect(r"S:(\d+):E\r\n")

    try:
        yield call
    finally:
        child.close(force=True)


@contextmanager
def tmux() -> Iterator[Call]:
    if shutil.which("tmux") is None:
        raise Missing("apt-get install tmux")
    server = ["tmux", "-L", f"rolf-bench-{os.getpid()}"]
    subprocess.run([*server, "-f", "/dev/null", "new-session", "-d", "-s", "s", "bash --norc"], check=True)

    def call() -> None:
        subprocess.run([*server, "send-keys", "-t", "s", "true; tmux wait -S done", "Enter"], check=True)
        subprocess.run([*server, "wait", "done"], check=True, timeout=10)
        subprocess.run([*server, "capture-pane", "-p", "-t", "s"], check=True, capture_output=True)

    try:
        yield call
    finally:
        subprocess.run([*server, "kill-server"], check=False)


@contextmanager
def fresh_bash() -> Iterator[Call]:
    yield lambda: subprocess.run(["bash", "-c", "true"], check=True, capture_output=True)


@contextmanager
def swe_rex() -> Iterator[Call]:
    if importlib.util.find_spec("swerex") is None:
        raise Missing("pip install swe-rex")
    from swerex.runtime.abstract import BashAction, CloseSessionRequest, CreateBashSessionRequest
    from swerex.runtime.local import LocalRuntime

    loop = asyncio.new_event_loop()
    runtime = LocalRuntime()
    loop.run_until_complete(runtime.create_session(CreateBashSessionRequest()))
    try:
        yield lambda: loop.run_until_complete(runtime.run_in_session(BashAction(command="true", timeout=10)))
    finally:
        loop.run_until_complete(runtime.close_session(CloseSessionRequest()))
        loop.close()


SHELLS: dict[str, Callable[[], AbstractContextManager[Call]]] = {
    "pexpect, no delay": lambda: pexpect_sentinel(None),
    "pexpect, default": lambda: pexpect_sentinel(0.05),
    "tmux": tmux,
    "subprocess, bash -c": fresh_bash,
    "SWE-ReX local": swe_rex,
}


@contextmanager
def tree(count: int) -> Iterator[Path]:
    """A home directory of ``count`` small files, 100 a directory."""
    with tempfile.TemporaryDirectory(prefix="rolf-bench-") as name:
        root = Path(name) / "home"
        for index in range(count):
            if index % 100 == 0:
                directory = root / f"d{index // 100}"
                directory.mkdir(parents=True)
            (directory / f"f{index % 100}").write_text(f"file {index}\n" * (1 + index % 20))
        os.chmod(name, 0o755)
        yield root


@contextmanager
def env_on(root: Path) -> Iterator[gymnasium.Env[object, str]]:
    """TermEnv whose agent's home starts as a copy of ``root``."""
    from termgym.tasks.task import Task

    task = Task(id=f"bench/{root}", instruction="", tree=str(root))
    env = gymnasium.make("termgym:TermEnv-v1", task=task, max_steps=10**9, disable_env_checker=True)
    try:
        env.reset(seed=0)
        yield env
    finally:
        env.close()


@contextmanager
def rsync_restore(root: Path) -> Iterator[Callable[[], float]]:
    """The mission's baseline: change ten files, then rsync the backup back; the call returns the restore's time [s]."""
    if shutil.which("rsync") is None:
        raise Missing("apt-get install rsync")
    work = root.parent / "rsync"
    subprocess.run(["rsync", "-aHAX", f"{root}/", f"{work}/"], check=True)

    def restore() -> float:
        subprocess.run(["bash", "-c", CHANGE_TEN], cwd=work, check=True)
        began = perf_counter()
        subprocess.run(["rsync", "-aHAX", "--delete", f"{root}/", f"{work}/"], check=True)
        return perf_counter() - began

    yield restore


@contextmanager
def diff_r(root: Path) -> Iterator[Call]:
    """The mission's baseline for the diff, on two trees that differ in ten paths."""
    copy = root.parent / "changed"
    subprocess.run(["cp", "-a", str(root), str(copy)], check=True)
    subprocess.run(["bash", "-c", CHANGE_TEN], cwd=copy, check=True)
    yield lambda: subprocess.run(["diff", "-r", str(root), str(copy)], check=False, capture_output=True)
