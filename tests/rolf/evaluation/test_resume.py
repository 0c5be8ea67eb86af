"""A run that is stopped at any moment goes on, and comes to the same files as one that nobody disturbed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pexpect
import psutil
import pytest
from evaluations import ROLF, contents, rows, write_split
from toy_contest import problems

from rolf.variant import Variant

Run = Callable[..., subprocess.CompletedProcess[str]]
SHELLS = ("link-structure/dangling@3", "rename-organise/same-content@4", "rename-organise/place-taken@6")
"""Tasks whose worlds hold nothing that tells the time, so that equal actions leave equal bytes."""


def started(*arguments: str | Path, cwd: Path) -> subprocess.Popen[str]:
    # Without ROLF's warnings as errors: an interrupt may fall between the opening of a file and its being known.
    command = [*(word for word in ROLF if word not in ("-W", "error")), *map(str, arguments)]
    return subprocess.Popen(command, cwd=cwd, stderr=subprocess.PIPE, text=True, start_new_session=True)


def kept(out: Path) -> int:
    """Return how many rows are written."""
    path = out / "results.partial.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def killed(run: subprocess.Popen[str], moment: Callable[[], bool], *, group: bool) -> None:
    """Kill a run, or only its first process, at a moment, and see that nobody outlives it."""
    deadline = time.monotonic() + 90
    while not moment() and run.poll() is None:
        assert time.monotonic() < deadline
    below = psutil.Process(run.pid).children(recursive=True) if run.poll() is None else []
    if group:
        os.killpg(run.pid, signal.SIGKILL)
    else:
        run.kill()
    run.communicate(timeout=60)
    assert not psutil.wait_procs(below, timeout=60)[1], "a process outlives the run that started it"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_shells_go_on_where_they_were_killed(toys: Path) -> None:
    """Real shells: amid an episode, after one, the parent alone and all of them; no sandbox is left."""
    variants = tuple(Variant("termgym:TermEnv-v1", {"task": task}, name=task) for task in SHELLS)
    command = ["eval", "--split", write_split(toys / "shells.json", variants), "--policy", "oracle", "--jobs", "2"]
    calm, out = toys / "calm", toys / "out"
    with started(*command, "--out", calm, cwd=toys) as run:
        assert run.wait(timeout=200) == 0
    played = out / "trajectories"
    moments: list[tuple[bool, Callable[[], bool]]] = [
        (False, lambda: played.exists()),
        (True, lambda: played.exists() and any(played.glob("*.jsonl"))),
        (False, lambda: kept(out) >= 1),
        (True, lambda: kept(out) >= 2 and any(played.glob("*.jsonl"))),
        (True, lambda: kept(out) >= 5),
    ]
    for group, moment in moments:
        with started(*command, "--out", out, cwd=toys) as run:
            killed(run, moment, group=group)
    with started(*command, "--out", out, cwd=toys) as run:
        assert run.wait(timeout=200) == 0
    assert contents(out) == contents(calm)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_blocks_go_on_where_they_were_killed(toys: Path) -> None:
    """In a batch: the blocks that are whole count, the others are played anew."""
    split = write_split(toys / "toys.json", problems(12), attempts=3)
    arg = "rounds=20000"
    command = ["eval", "--split", split, "--policy", "toy_contest:Crowd", "--policy-arg", arg, "--jobs", "2"]
    calm, out = toys / "calm", toys / "out"
    with started(*command, "--out", calm, cwd=toys) as run:
        assert run.wait(timeout=200) == 0
    for number, least in enumerate((0, 1, 4, 9, 16, 24, 33)):

        def reached(least: int = least) -> bool:
            return kept(out) >= least

        with started(*command, "--out", out, cwd=toys) as run:
            killed(run, reached, group=number % 2 == 0)
    with started(*command, "--out", out, cwd=toys) as run:
        assert run.wait(timeout=200) == 0
    assert contents(out) == contents(calm)


@pytest.mark.parametrize("cut", range(0, 60, 7))
def test_a_run_may_end_amid_any_write(rolf: Run, toys: Path, cut: int) -> None:
    """What a killed run leaves: a part of the rows, the last line cut, trajectories without rows and half ones."""
    command = ["eval", "--split", "toy-v0/small[:3]", "--policy", "chance", "--attempts", "1"]
    rolf(*command, "--out", "calm")
    rolf(*command, "--out", "out")
    out = toys / "out"
    text = (out / "results.jsonl").read_bytes()
    (out / "results.partial.jsonl").write_bytes(text[: len(text) * cut // 60])
    told = json.loads((out / "submission.json").read_text())
    for key in ("summary", "results_sha256", "lock_sha256"):
        del told[key]
    (out / "submission.partial.json").write_text(json.dumps(told))
    (out / "results.jsonl").unlink()
    (out / "submission.json").unlink()
    (out / "results.jsonl.partial").write_bytes(b"{")
    (out / "trajectories" / "00001-0.jsonl.gz").unlink()
    (out / "trajectories" / "00001-0.jsonl").write_bytes(b"{")
    (out / "trajectories" / "00001-0.jsonl.output").write_bytes(b"{")
    (out / "trajectories" / "00002-0.jsonl.gz.partial").write_bytes(b"{")
    assert rolf(*command, "--out", "out").returncode == 0
    assert contents(out) == contents(toys / "calm")


@pytest.mark.parametrize("gone", [(), ("submission.json",), ("results.partial.jsonl",)])
def test_a_run_may_end_while_it_ends(rolf: Run, toys: Path, gone: tuple[str, ...]) -> None:
    """Between any two of its last steps: results, submission, and what was partial removed."""
    command = ["eval", "--split", "toy-v0/small[:2]", "--policy", "chance"]
    rolf(*command, "--out", "calm")
    rolf(*command, "--out", "out")
    out = toys / "out"
    (out / "results.partial.jsonl").write_bytes((out / "results.jsonl").read_bytes())
    (out / "submission.partial.json").write_bytes((out / "submission.json").read_bytes())
    for name in gone:
        (out / name).unlink()
    done = rolf(*command, "--out", "out")
    assert "6 of 6 episodes are there already" in done.stderr
    assert contents(out) == contents(toys / "calm")


def test_a_finished_run_is_not_played_again(rolf: Run, toys: Path) -> None:
    command = ["eval", "--split", "toy-v0/small[:2]", "--policy", "chance", "--out", "out"]
    rolf(*command)
    before = (toys / "out" / "results.jsonl").read_bytes()
    done = rolf(*command, "--description", "better told")
    assert "6 episodes in out, 6 of them from an earlier run" in done.stderr
    assert (toys / "out" / "results.jsonl").read_bytes() == before, "times included"
    assert json.loads((toys / "out" / "submission.json").read_text())["policy"]["description"] == "better told"


def test_a_lost_trajectory_is_played_again(rolf: Run, toys: Path) -> None:
    command = ["eval", "--split", "toy-v0/small", "--policy", "crowd", "--out", "out"]
    rolf(*command)
    before = contents(toys / "out")
    (toys / "out" / "trajectories" / "block-00002.jsonl.gz").unlink()
    assert "14 of 18 episodes are there already" in rolf(*command).stderr
    assert contents(toys / "out") == before


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupt_ends_cleanly_and_says_how_to_go_on(toys: Path, jobs: str) -> None:
    """^C reaches the whole group, as on a terminal; what was played is kept, and nobody stays behind."""
    split = write_split(toys / "toys.json", problems(60), attempts=9)
    command = ["eval", "--split", split, "--policy", "toy_contest:Chance", "--jobs", jobs, "--out", toys / "out"]
    with started(*command, cwd=toys) as run:
        deadline = time.monotonic() + 90
        while kept(toys / "out") < 4:
            assert time.monotonic() < deadline
            assert run.poll() is None
        below = psutil.Process(run.pid).children(recursive=True)
        os.killpg(run.pid, signal.SIGINT)
        said = run.communicate(timeout=60)[1]
    assert run.returncode == 1
    assert said.endswith("Error: stopped; the same command goes on from here\n"), said
    assert "Traceback" not in said, said
    assert not psutil.wait_procs(below, timeout=60)[1]
    assert not any(row["fault"] for row in rows(toys / "out", "results.partial.jsonl"))
    assert 4 <= kept(toys / "out") < 540


@pytest.mark.slow
def test_a_person_sees_a_bar(toys: Path) -> None:
    """On a terminal the progress is a bar; the summary stays."""
    words = ["eval", "--split", "toy-v0/small", "--policy", "chance", "--out", "out"]
    child = pexpect.spawn(
        sys.executable, [*ROLF[1:], *words], cwd=str(toys), encoding="utf-8", timeout=90,
        env={**os.environ, "TERM": "xterm-256color"}, dimensions=(24, 120),
    )  # fmt: skip
    child.expect(r"18/18")
    child.expect(r"chance on toy-v0/small, 3 attempts a variant")
    child.expect("18 episodes in out")
    child.expect(pexpect.EOF)


def test_one_run_at_a_time(rolf: Run, toys: Path) -> None:
    """Two runs in one folder would write each other's rows twice."""
    split = write_split(toys / "toys.json", problems(60), attempts=9)
    command = ["eval", "--split", split, "--policy", "toy_contest:Chance", "--out", toys / "out"]
    with started(*command, cwd=toys) as first:
        deadline = time.monotonic() + 90
        while not kept(toys / "out"):
            assert time.monotonic() < deadline
        done = rolf(*command)
        assert first.poll() is None
        first.kill()
        first.communicate(timeout=60)
    assert done.returncode == 2
    assert f"another run writes to {str(toys / 'out')!r}; wait for its end" in done.stderr
