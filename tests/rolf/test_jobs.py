"""Pieces of work in several processes: none is lost, and nobody outlives the run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import toy_work
from toy_work import Toil

from rolf.jobs import PATIENCE, done


def started(folder: Path, *pieces: str) -> subprocess.Popen[str]:
    """Start a run of two processes, and wait until both are at a piece that never ends."""
    path = os.pathsep.join(sys.path)
    run = subprocess.Popen(
        [sys.executable, toy_work.__file__, str(folder), *pieces],
        env={**os.environ, "PYTHONPATH": path}, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 90
    while len(list(folder.glob("waiting-*"))) < 2:
        assert time.monotonic() < deadline
        assert run.poll() is None
    return run


@pytest.mark.parametrize("jobs", [1, 3])
def test_every_piece_has_its_result(tmp_path: Path, jobs: int) -> None:
    pieces = [f"piece-{number}" for number in range(9)]
    found = dict(done(Toil(tmp_path), pieces, jobs))
    assert sorted(found) == pieces
    workers = {result.rpartition(" ")[2] for result in found.values()}
    assert len(workers) == 1 if jobs == 1 else str(os.getpid()) not in workers
    assert {path.name for path in tmp_path.iterdir()} == {f"closed-{worker}" for worker in workers}


def test_a_process_that_dies_takes_one_piece_with_it(tmp_path: Path) -> None:
    found = dict(done(Toil(tmp_path), ["a", "die", "b", "c"], 2))
    assert found.pop("die") == "die lost: ended with -9"
    assert all(f"{piece} done by" in result for piece, result in found.items())
    assert sorted(found) == ["a", "b", "c"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_can_do_nothing_at_all_says_so(tmp_path: Path, jobs: int) -> None:
    with pytest.raises(RuntimeError, match=r"^no sandbox here$"):
        list(done(Toil(tmp_path, "no sandbox here"), ["a", "b"], jobs))
    with pytest.raises(RuntimeError, match=r"^no machine$"):
        list(done(Toil(tmp_path), ["a", "fail"], jobs))


def test_programs_that_are_started_can_be_interrupted(tmp_path: Path) -> None:
    """An ignored or blocked signal is inherited: ^C would do nothing in a shell that a process of these starts."""
    found = dict(done(Toil(tmp_path), ["signals", "a"], 2))
    assert found["signals"] == "False set()"


@pytest.mark.slow
def test_who_wants_no_more_waits_for_nobody(tmp_path: Path) -> None:
    """A process amid a piece that takes hours closes what it has opened, and ends."""
    results = done(Toil(tmp_path), ["a", "wait"], 2)
    assert next(results)[0] == "a"
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("waiting-*")):
        assert time.monotonic() < deadline
    began = time.monotonic()
    results.close()
    assert time.monotonic() - began < PATIENCE
    (waiting,) = (path.name.partition("-")[2] for path in tmp_path.glob("waiting-*"))
    assert (tmp_path / f"closed-{waiting}").exists()
    assert not psutil.pid_exists(int(waiting))


@pytest.mark.slow
def test_nobody_outlives_a_run_that_was_killed(tmp_path: Path) -> None:
    """A process that lived on would write into a folder that another run has taken over."""
    with started(tmp_path, "wait", "wait") as run:
        below = psutil.Process(run.pid).children(recursive=True)
        assert len(below) >= 2
        run.kill()
        assert not psutil.wait_procs(below, timeout=60)[1]


@pytest.mark.slow
def test_an_interrupt_of_all_of_them_ends_without_noise(tmp_path: Path) -> None:
    with started(tmp_path, "wait", "wait") as run:
        below = psutil.Process(run.pid).children(recursive=True)
        os.killpg(run.pid, signal.SIGINT)
        said = run.communicate(timeout=60)[1]
        assert not psutil.wait_procs(below, timeout=60)[1]
    assert said.count("Traceback") == 1, said
    assert said.rstrip().endswith("KeyboardInterrupt")
    assert len(list(tmp_path.glob("closed-*"))) == 2, "both closed what they had opened"
