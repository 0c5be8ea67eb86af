"""Trees at the edge of what the kernel allows, and trees that change while they are looked at."""

from __future__ import annotations

import errno
import os
import subprocess
import time
from pathlib import Path

import pytest
from toys.isolation import ROLES, roles_here, run_as
from toys.trees import build, facts

from termgym.snapshot import ChangeKind, Snapshot, open_snapshot, tree_digest

LEVELS = 1_100
NAME = "level-of-a-deep-tree"  # 1 100 of them are 23 kB of path, PATH_MAX is 4 096 bytes; Python recurses 1 000 deep
MACHINES = [(role, backend) for role in roles_here() if role != "disk" for backend in ROLES[role]]


def opened(scratch: Path, backend: str, size_bytes: int | None = None) -> Snapshot:
    base, work = scratch / "base", scratch / "work"
    build(base)
    work.mkdir()
    return open_snapshot(base, work, backend=backend, size_bytes=size_bytes)


def go_deep(scratch: Path, backend: str) -> None:
    snapshot = opened(scratch, backend)
    before = snapshot.digest()
    here = os.open(snapshot.live / "home" / "agent", os.O_RDONLY)
    for _ in range(LEVELS):
        os.mkdir(NAME, dir_fd=here)
        deeper = os.open(NAME, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = deeper
    os.close(os.open("bottom", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.setxattr(here, "user.depth", b"%d" % LEVELS)
    os.close(here)
    changes = snapshot.diff()
    assert len(changes) == LEVELS + 1
    assert {change.kind for change in changes} == {ChangeKind.ADDED}
    digest = snapshot.digest()
    assert digest == tree_digest(snapshot.live) != before
    token = snapshot.save()
    snapshot.restore()
    assert (snapshot.diff(), snapshot.digest()) == ((), before)
    snapshot.load(token)
    assert (snapshot.diff(), snapshot.digest()) == (changes, digest)
    snapshot.close()
    assert os.listdir(scratch / "work") == []


@pytest.mark.parametrize(("role", "backend"), MACHINES)
def test_no_tree_is_too_deep(role: str, backend: str) -> None:
    """One shell loop makes a path that no system call takes; the next episode must start all the same."""
    run_as(role, go_deep, backend)


def grow_huge(scratch: Path, backend: str) -> float:
    snapshot = opened(scratch, backend)
    started = time.monotonic()
    huge = snapshot.live / "home" / "agent" / "huge"
    with huge.open("wb") as file:
        file.truncate(1 << 40)
        file.seek(1 << 39)
        file.write(b"a needle")
    first, changes = snapshot.digest(), snapshot.diff()
    assert [change.path for change in changes] == ["/home/agent/huge"]
    token = snapshot.save()
    with huge.open("r+b") as file:
        file.seek(1 << 39)
        file.write(b"A needle")
    assert snapshot.digest() != first
    snapshot.load(token)
    assert snapshot.digest() == first == tree_digest(snapshot.live)
    assert huge.stat().st_blocks < 1 << 12, "the holes were filled"
    snapshot.restore()
    assert snapshot.diff() == ()
    snapshot.close()
    return time.monotonic() - started


@pytest.mark.parametrize("backend", ROLES["user"])
def test_a_sparse_terabyte_costs_nothing(backend: str) -> None:
    """``truncate -s 1T f`` takes an agent no time; reading it would take us ten minutes."""
    assert run_as("user", grow_huge, backend) < 60


def fill(scratch: Path) -> None:
    snapshot = opened(scratch, "overlay-userns", size_bytes=4 << 20)
    before = facts(snapshot.live)
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        (snapshot.live / "tmp" / "flood").write_bytes(bytes(5 << 20))
    assert [change.path for change in snapshot.diff()] == ["/tmp/flood"]
    snapshot.restore()
    assert facts(snapshot.live) == before
    (snapshot.live / "tmp" / "small").write_bytes(bytes(3 << 20))
    snapshot.close()


def test_a_full_layer_is_the_agents_matter() -> None:
    """The agent meets ENOSPC at its limit, the machine does not meet it at all, and a reset gives the room back."""
    run_as("user", fill)


CHURN = """
cd "$1"
while :; do
  mkdir -p x/y; echo a > x/y/f; ln -sf f x/y/l; mv x/y/f x/g; rm x/y/l; mkfifo x/y/l; rm -rf x
  echo b > x; rm x; ln -s a x; rm x
done
"""


def watch_churn(scratch: Path, backend: str) -> None:
    snapshot = opened(scratch, backend)
    before = snapshot.digest()
    argv = ["sh", "-c", CHURN, "sh", snapshot.live / "home" / "agent" / "e"]
    job = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert job.stdout is not None
    deadline = time.monotonic() + 10
    seen = 0
    try:
        while seen < 3 and time.monotonic() < deadline:
            seen += bool(snapshot.diff())
            snapshot.digest()
    finally:
        job.kill()
        job.stdout.read()  # ends when the last program that the shell started is gone
        job.wait()
    assert seen == 3, "the job changed nothing"
    snapshot.restore()
    assert (snapshot.diff(), snapshot.digest()) == ((), before)
    snapshot.close()


@pytest.mark.parametrize(("role", "backend"), MACHINES)
def test_looking_at_a_running_program_does_not_fail(role: str, backend: str) -> None:
    """``info`` has a digest at each step, while jobs of the agent go on."""
    run_as(role, watch_churn, backend)


def survive(scratch: Path) -> None:
    snapshot = opened(scratch, "overlay-userns")
    log = snapshot.live / "home" / "agent" / "log"
    program = 'exec 3>>"$1"; cd "$2"; echo ready; read -r go; echo late >&3; echo late > late; echo done'
    job = subprocess.Popen(
        ["sh", "-c", program, "sh", log, log.parent], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert job.stdout is not None
    assert job.stdin is not None
    assert job.stdout.readline() == "ready\n"
    snapshot.restore()
    job.stdin.write("go\n")
    job.stdin.flush()
    assert job.stdout.readline() == "done\n"
    job.communicate()
    assert snapshot.diff() == ()
    snapshot.close()


def test_a_survivor_writes_to_the_old_tree() -> None:
    """Everything is killed before a restore; should one process be missed, the next episode is clean even so."""
    run_as("user", survive)
