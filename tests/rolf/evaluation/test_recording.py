"""Recordings: both kinds of trajectory read back as what was played, and whatever is wrong with one is told."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from rolf.evaluation.atomic import compress, write_compressed
from rolf.evaluation.episode import Ending, Run
from rolf.evaluation.recording import located, read, read_block, write_block
from rolf.replay import replay
from rolf.trajectory import TrajectoryError
from rolf.variant import Variant
from rolf_wrappers import RecordTrajectory

POLE = Variant("gymnasium:CartPole-v1", {"sutton_barto_reward": True}, seed=3)


def pole(path: Path, *, seed: int = 7, steps: int = 200) -> Path:
    """Record one whole episode of CartPole and return the compressed file."""
    plain = path.with_suffix("")
    with RecordTrajectory(POLE.make(), plain) as env:
        env.reset(seed=seed)
        for step in range(steps):
            *_, terminated, truncated, _ = env.step(step % 2)
            if terminated or truncated:
                break
    compress(plain, path)
    return path


def played(seed: int = 7) -> Run:
    """Play the same episode without a recorder."""
    env, rewards, done, step = POLE.make(), [], False, 0
    env.reset(seed=seed)
    while not done:
        _, reward, terminated, truncated, info = env.step(step % 2)
        rewards.append(float(reward))
        done, step = terminated or truncated, step + 1
    return Run([step % 2 for step in range(len(rewards))], Ending(rewards, info, terminated, truncated), "", 0.1)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def rewrite(path: Path, content: list[dict[str, Any]]) -> Path:
    write_compressed(path, (json.dumps(line).encode() + b"\n" for line in content))
    return path


def test_both_kinds_tell_the_same_of_the_same_episode(tmp_path: Path) -> None:
    """A board does not ask how an episode was played."""
    stepped, run = read(pole(tmp_path / "t.jsonl.gz")), played()
    write_block(tmp_path / "block.jsonl.gz", [(POLE, 7, run)])
    batched = read(tmp_path / "block.jsonl.gz#1")
    assert (stepped.kind, batched.kind) == ("steps", "actions")
    assert stepped.env_id == batched.env_id == "gymnasium:CartPole-v1"
    assert stepped.kwargs == batched.kwargs == {"sutton_barto_reward": True}
    assert stepped.seed == batched.seed == 7
    assert stepped.actions == batched.actions
    assert stepped.ending == batched.ending
    assert stepped.ending.rewards[-1] == -1.0
    assert stepped.steps is not None
    assert len(stepped.steps) == len(stepped.actions) + 2
    (line,) = gzip.decompress((tmp_path / "block.jsonl.gz").read_bytes()).splitlines()
    assert batched.digest == hashlib.sha256(line).hexdigest() != stepped.digest


def test_both_kinds_are_replayed(tmp_path: Path) -> None:
    """`rolf replay` takes what `rolf eval` writes."""
    assert replay(pole(tmp_path / "t.jsonl.gz")).equal
    write_block(tmp_path / "b.jsonl.gz", [(POLE, 8, played(8)), (POLE, 7, played(7))])
    report = replay(f"{tmp_path}/b.jsonl.gz#2")
    assert report.equal
    assert report.steps == len(played(7).actions)


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [("seed", 9, "reward"), ("rewards", None, "reward"), ("terminated", False, "terminated")],
)
def test_a_replay_of_actions_names_what_differs(tmp_path: Path, field: str, value: Any, named: str) -> None:
    path = tmp_path / "b.jsonl.gz"
    write_block(path, [(POLE, 7, played())])
    (content,) = lines(path)
    content[field] = [*content["rewards"][:-1], 5.0] if field == "rewards" else value
    report = replay(f"{rewrite(path, [content])}#1")
    assert report.divergence is not None
    assert report.divergence.field == named


def test_the_same_episode_has_the_same_bytes(tmp_path: Path) -> None:
    """A run that was killed and one that was not leave the same files."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    for write in (pole, lambda path: write_block(path, [(POLE, 7, played())])):
        write(tmp_path / "a" / "t.jsonl.gz")
        write(tmp_path / "b" / "t.jsonl.gz")
        one, other = (tmp_path / "a" / "t.jsonl.gz").read_bytes(), (tmp_path / "b" / "t.jsonl.gz").read_bytes()
        assert one == other
        assert one[3:8] == bytes(5), "neither name nor time (RFC 1952, 2.3)"


def test_a_digest_sees_every_change_but_of_what_may_differ(tmp_path: Path) -> None:
    """Packages, where output lies, and what the environment calls volatile may; nothing else."""
    path = pole(tmp_path / "t.jsonl.gz", steps=3)
    whole, before = lines(path), read(path).digest

    def changed(number: int, **fields: Any) -> str:
        return read(rewrite(path, [{**line, **(fields if n == number else {})} for n, line in enumerate(whole)])).digest

    assert changed(0, packages={"python": "4"}) == before
    assert changed(2, output={"stdout": {"at": 5, "bytes": 3}}) == before
    seen = {before}
    for number, fields in (
        (0, {"kwargs": {}}),
        (0, {"volatile": ["info.x"]}),
        (1, {"seed": 8}),
        (2, {"action": [1]}),
        (2, {"observation": [0.0, 0.0, 0.0, 0.0]}),
        (2, {"reward": 0.5}),
        (3, {"terminated": True}),
        (3, {"info": {"x": 1}}),
        (5, {"steps": 4}),
        (5, {"state_digest": "ab"}),
    ):
        seen.add(changed(number, **fields))
    assert len(seen) == 11
    whole[0]["volatile"] = ["info.x.late", "observation"]
    assert changed(3, info={"x": {"late": 1}}) == changed(3, info={"x": {}}, observation=[9.0])
    assert changed(3, info={"x": {"late": 1}}) != changed(3, info={"x": {"late": 1, "y": 1}})


def test_an_episode_that_the_machine_lost_is_read(tmp_path: Path) -> None:
    """It ends without an end: neither terminated nor truncated, perhaps before its first step."""
    found = read(pole(tmp_path / "t.jsonl.gz", steps=0))
    assert (found.actions, found.ending) == ([], Ending([], {}, False, False))
    found = read(pole(tmp_path / "t.jsonl.gz", steps=2))
    assert (found.ending.rewards, found.ending.terminated, found.ending.truncated) == ([0.0, 0.0], False, False)


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda _: [], "the file is empty"),
        (lambda c: c[:1], "it has nothing"),
        (lambda c: c[:-1], "it has 1 'reset', 3 'step'"),
        (lambda c: [*c, *c[1:]], "it has 2 'reset', 6 'step', 2 'final'"),
        (lambda c: [*c[:2], {"type": ["step"]}, c[-1]], "is not one whole episode"),
        (lambda c: [{**c[0], "env_id": 5}, *c[1:]], "'env_id' is 5, expected text"),
        (lambda c: [{**c[0], "kwargs": None}, *c[1:]], "'kwargs' is None, expected an object"),
        (lambda c: [{**c[0], "wrappers": [1]}, *c[1:]], "'wrappers' is .1., expected a list of objects"),
        (lambda c: [{**c[0], "volatile": 1}, *c[1:]], "'volatile' is 1, expected a list"),
        (lambda c: [*c[:2], {**c[2], "reward": "1"}, *c[3:]], "the reward of step 0 is '1', expected a number"),
        (lambda c: [*c[:3], {**c[3], "reward": True}, *c[4:]], "the reward of step 1 is True"),
        (lambda c: [*c[:3], {**c[3], "reward": 10**400}, *c[4:]], "larger than any number of 64 bits"),
    ],
)
def test_says_what_is_wrong_with_steps(tmp_path: Path, damage: Any, told: str) -> None:
    path = pole(tmp_path / "t.jsonl.gz", steps=3)
    with pytest.raises(TrajectoryError, match=told):
        read(rewrite(path, damage(lines(path))))


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("format", "rolf-actions/9", "is of the format 'rolf-actions/9'; expected 'rolf-actions/1'"),
        ("env_id", None, "'env_id' is None, expected text"),
        ("seed", True, "'seed' is True, expected a whole number"),
        ("rewards", [1.0], "actions and 1 rewards"),
        ("rewards", "x", "'rewards' is 'x', expected a list"),
        ("info", [], r"'info' is \[\], expected an object"),
        ("terminated", 1, "'terminated' is 1, expected true or false"),
        ("wrappers", {}, "'wrappers' is {}, expected a list of objects"),
    ],
)
def test_says_what_is_wrong_with_a_line_of_actions(tmp_path: Path, field: str, value: Any, told: str) -> None:
    path = tmp_path / "b.jsonl.gz"
    write_block(path, [(POLE, 7, played())])
    (content,) = lines(path)
    with pytest.raises(TrajectoryError, match=told):
        read(rewrite(path, [{**content, field: value}]), 1)


def test_a_line_that_is_not_there_is_told(tmp_path: Path) -> None:
    path = tmp_path / "b.jsonl.gz"
    write_block(path, [(POLE, 7, played())])
    with pytest.raises(TrajectoryError, match="has no line 2"):
        read(path, 2)
    with pytest.raises(TrajectoryError, match="holds an episode a line; say which"):
        read(path)
    with pytest.raises(TrajectoryError, match="line 1 is of the format 'rolf-trajectory/1'"):
        list(read_block(pole(tmp_path / "t.jsonl.gz")))


@pytest.mark.parametrize("kept", [5, 30, -9, -1])
def test_a_compressed_file_that_was_cut_off_is_told(tmp_path: Path, kept: int) -> None:
    path = pole(tmp_path / "t.jsonl.gz")
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(TrajectoryError, match="was compressed and is damaged or cut off"):
        read(path)


def test_a_stranger_cannot_fill_the_memory(tmp_path: Path) -> None:
    """A megabyte of gzip can hold a gigabyte of one line, and JSON can be nested deeper than Python looks."""
    bomb = tmp_path / "bomb.jsonl.gz"
    write_compressed(bomb, [b'{"type":"header","x":"', *[b" " * (1 << 20)] * 300, b'"}\n'])
    assert bomb.stat().st_size < 1 << 20
    with pytest.raises(TrajectoryError, match="comes to more than a trajectory does"):
        read(bomb)
    path = pole(tmp_path / "t.jsonl.gz", steps=1)
    for depth in (300, 600, 100_000):
        content = lines(path)
        text = [json.dumps(line) for line in content]
        text[2] = text[2].replace('"info": {}', '"info": {"x": ' + "[" * depth + "]" * depth + "}")
        assert "[[" in text[2]
        write_compressed(tmp_path / "deep.jsonl.gz", ["\n".join(text).encode() + b"\n"])
        if depth == 300:
            assert read(tmp_path / "deep.jsonl.gz").kind == "steps"
        else:
            with pytest.raises(TrajectoryError, match="nested deeper"):
                read(tmp_path / "deep.jsonl.gz")


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("a/b.jsonl.gz#3", "a/b.jsonl.gz", 3),
        ("a#1.jsonl", "a#1.jsonl", None),
        ("b#0", "b#0", None),
        ("b#x", "b#x", None),
        ("#1", "#1", None),
    ],
)
def test_a_name_may_say_which_line(text: str, path: str, line: int | None) -> None:
    assert located(text) == (Path(path), line)


def test_what_is_written_whole_or_not_at_all_leaves_nothing(tmp_path: Path) -> None:
    def pieces() -> Any:
        yield b"half"
        raise OSError("the disk is full")

    (tmp_path / "x").write_bytes(b"before")
    with pytest.raises(OSError, match="full"):
        write_compressed(tmp_path / "x", pieces())
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
    assert (tmp_path / "x").read_bytes() == b"before"
