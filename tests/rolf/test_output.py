"""All of the output beside a trajectory: every byte that a command wrote, or how many there are missing."""

from __future__ import annotations

import json
import os
import resource
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

import termgym
from rolf.output import OutputFile, read_output
from rolf.replay import replay
from rolf_wrappers import RecordTrajectory


def numbers(count: int) -> bytes:
    return b"".join(b"%d\n" % number for number in range(1, count + 1))


def record(path: Path, commands: Sequence[str], **settings: Any) -> list[dict[str, Any]]:
    """Return what the lines of the steps say of their output."""
    with RecordTrajectory(gym.make("termgym:TermEnv-v1"), path, **settings) as env:
        env.reset(seed=1)
        for command in commands:
            env.step(termgym.plan(command, expected_exit_code=None))
    lines = map(json.loads, path.read_text().splitlines())
    return [line.get("output", {}) for line in lines if line["type"] == "step"]


def whole(path: Path, told: dict[str, Any], stream: str) -> bytes:
    assert "missing" not in told[stream]
    return read_output(path, told[stream])


def test_every_byte_of_a_long_output_is_kept(tmp_path: Path) -> None:
    """The observation shows head and tail; who looks into a run afterwards wants the middle."""
    path = tmp_path / "t.jsonl"
    one, two = record(path, ["seq 100000", "seq 30000; seq 40000 >&2; seq 9"])
    assert whole(path, one, "stdout") == numbers(100_000)
    assert whole(path, two, "stdout") == numbers(30_000) + numbers(9)
    assert whole(path, two, "stderr") == numbers(40_000)


def test_bytes_that_no_text_holds_are_kept(tmp_path: Path) -> None:
    """An observation shows U+FFFD for each of them."""
    path = tmp_path / "t.jsonl"
    (told,) = record(path, [r"printf 'a\xff\xfeb'; head -c 100000 /dev/zero | tr '\0' '\200' >&2"])
    assert whole(path, told, "stdout") == b"a\xff\xfeb"
    assert whole(path, told, "stderr") == b"\x80" * 100_000


def test_output_between_two_steps_is_kept(tmp_path: Path) -> None:
    """A background job that speaks while nobody listens is heard in the next step."""
    path = tmp_path / "t.jsonl"
    with RecordTrajectory(gym.make("termgym:TermEnv-v1", output_limit=1024), path) as env:
        env.reset(seed=1)
        env.step(termgym.plan("mkfifo go; (read -r x < go; seq 2000; touch done) & true"))
        world: Any = env.unwrapped
        sandbox = world.episode._sandbox
        sandbox.run(["sh", "-c", "echo > go"])
        end = time.monotonic() + 20
        while sandbox.status("/home/agent/done") is None:
            assert time.monotonic() < end
        env.step(termgym.plan("true"))
    *_, last, _ = map(json.loads, path.read_text().splitlines())
    assert whole(path, last["output"], "late_output") == numbers(2_000)


def test_what_the_driver_itself_causes_is_left_out(tmp_path: Path) -> None:
    """Traces and prompts of our own lines are no output of the command's."""
    path = tmp_path / "t.jsonl"
    traced, prompted, _ = record(
        path, ["set -x; seq 20000 >&2", "set +x; PS1='ready> '; seq 20000 >&2; seq 30000", "true"]
    )
    assert whole(path, traced, "stderr") == b"+ seq 20000\n" + numbers(20_000)
    assert whole(path, prompted, "stderr") == b"+ set +x\n" + numbers(20_000)
    assert whole(path, prompted, "stdout") == numbers(30_000)


def test_there_is_no_file_where_the_observation_has_it_all(tmp_path: Path) -> None:
    """Each fact is told once."""
    assert record(tmp_path / "t.jsonl", ["echo plain; echo caf\xc3\xa9 >&2", "exit 3"]) == [{}, {}]
    assert os.listdir(tmp_path) == ["t.jsonl"]


def test_the_budget_of_an_episode_is_kept_and_told(tmp_path: Path) -> None:
    """A run that prints without end must not fill the disk, nor pass for one that was kept in full."""
    path = tmp_path / "t.jsonl"
    one, two, three = record(path, ["seq 20000", "seq 100000", "seq 100000 >&2"], output_budget=200_000)
    assert whole(path, one, "stdout") == numbers(20_000)
    assert two["stdout"]["bytes"] == 200_000 - len(numbers(20_000))
    assert two["stdout"]["missing"] == len(numbers(100_000)) - two["stdout"]["bytes"]
    assert read_output(path, two["stdout"]) == numbers(100_000)[: two["stdout"]["bytes"]]
    assert three["stderr"] == {"at": 200_000, "bytes": 0, "missing": len(numbers(100_000))}
    assert sorted(os.listdir(tmp_path)) == ["t.jsonl", "t.jsonl.output"]


def test_the_next_episode_has_the_budget_anew(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with RecordTrajectory(gym.make("termgym:TermEnv-v1"), path, output_budget=500_000) as env:
        for _ in range(2):
            env.reset(seed=1)
            env.step(termgym.plan("seq 80000"))
    told = [line["output"] for line in map(json.loads, path.read_text().splitlines()) if line["type"] == "step"]
    assert [whole(path, each, "stdout") for each in told] == [numbers(80_000)] * 2


def test_memory_does_not_grow_with_the_output(tmp_path: Path) -> None:
    """What is beyond the observation's budget goes to the disk as it comes."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    (told,) = record(tmp_path / "t.jsonl", ["head -c 150M /dev/zero | tr '\\0' x"])
    assert told["stdout"]["bytes"] == 150 << 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000  # [KiB]


def test_a_recording_with_all_output_is_replayed(tmp_path: Path) -> None:
    """A replay compares what is in the trajectory; it needs the file beside it as little as it makes another."""
    path = tmp_path / "t.jsonl"
    record(path, ["seq 50000"])
    (tmp_path / "t.jsonl.output").unlink()
    assert replay(path).equal
    assert os.listdir(tmp_path) == ["t.jsonl"]


def test_an_existing_file_is_replaced_only_if_asked(tmp_path: Path) -> None:
    """A stranger's output beside a new trajectory would be taken for its own."""
    (tmp_path / "t.jsonl.output").write_bytes(b"old")
    with pytest.raises(FileExistsError, match=r"t\.jsonl\.output.*overwrite=True"):
        RecordTrajectory(gym.make("termgym:TermEnv-v1"), tmp_path / "t.jsonl")
    assert os.listdir(tmp_path) == ["t.jsonl.output"]
    record(tmp_path / "t.jsonl", ["true"], overwrite=True)
    assert os.listdir(tmp_path) == ["t.jsonl"]


def test_nothing_is_kept_where_nobody_records(tmp_path: Path) -> None:
    """Neither memory nor a file: most runs are not recorded."""
    env: Any = gym.make("termgym:TermEnv-v1")
    env.reset(seed=1)
    env.step(termgym.plan("seq 100000"))
    assert env.unwrapped.episode.session.full == {}
    sink = OutputFile(tmp_path / "t", 1 << 20)
    env.unwrapped.record_output(sink)
    env.step(termgym.plan("seq 100000"))
    assert env.unwrapped.episode.session.full.keys() == {"stdout"}
    env.unwrapped.record_output(None)
    env.step(termgym.plan("seq 100000"))
    assert env.unwrapped.episode.session.full == {}
    env.close()
    sink.close()
