"""Going back to a state: a run that is resumed has the bits of one that was never disturbed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kept_episodes import ENV, FEW, SMALL, episode, plain, same, write

from rolf_adapters.buffer import Causal, TrajectoryBuffer
from rolf_adapters.buffer.index import BACKENDS
from rolf_adapters.buffer.segments import Segments


def digest(buffer: TrajectoryBuffer) -> Any:
    """Return all that anybody could draw from a buffer."""
    generator = np.random.Generator(np.random.Philox(1))
    samples = [
        draw(100, generator, Causal())[part].tolist()
        for draw in (buffer.sample_episodes, buffer.sample_steps)
        for part in (0, 2, 3)
    ]
    return list(buffer.numbers), [plain(buffer.episode(number)) for number in buffer.numbers], samples


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("segment-*"))}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("lost", [1, 7, 33, 100])
def test_a_resumed_run_has_the_bits_of_an_undisturbed_one(tmp_path: Path, lost: int, backend: str) -> None:
    """However much was written after the checkpoint and is taken back; the files are equal, byte by byte."""
    with TrajectoryBuffer(tmp_path / "calm", **FEW, backend=backend) as calm:
        write(calm, 0, 50)
        state = calm.state()
        write(calm, 50, 90)
        expected = digest(calm)
    with TrajectoryBuffer(tmp_path / "killed", **FEW, backend=backend) as killed:
        write(killed, 0, 50)
        kept = json.loads(json.dumps(killed.state()))
        for number in range(1_000, 1_000 + lost):  # what a run does that goes another way
            killed.add(episode(number))
    assert kept == state
    with TrajectoryBuffer(tmp_path / "killed", **FEW, backend=backend) as resumed:
        assert resumed.numbers.stop == 50 + lost
        resumed.load(kept)
        assert resumed.numbers == range(state["first"], 50)
        write(resumed, 50, 90)
        assert digest(resumed) == expected
        assert [number for number in resumed.numbers if resumed.node(f"linegym:LineEnv-v1:0:{number}")] == expected[0]
    assert contents(tmp_path / "killed") == contents(tmp_path / "calm")


def test_what_was_dropped_since_is_there_again(tmp_path: Path) -> None:
    """A state needs its oldest episodes too; they stay on the disk for as long as it is one of the latest."""
    with TrajectoryBuffer(tmp_path / "b", **FEW, states=2) as buffer:
        write(buffer, 0, 40)
        first, before = buffer.state(), digest(buffer)
        write(buffer, 40, 140)
        assert buffer.numbers.start > 40
        buffer.state()
        buffer.load(first)
        assert digest(buffer) == before
        buffer.load(first)
        assert digest(buffer) == before, "as often as wanted"


def test_a_time_that_came_again_names_the_episode_that_is_there(tmp_path: Path) -> None:
    """A key is free when its episode is dropped. Gone back to, it names the old one; purged, the new one stays."""
    with TrajectoryBuffer(tmp_path / "b", **FEW, states=1) as buffer:
        write(buffer, 0, 40)
        state = buffer.state()
        again = state["first"]
        write(buffer, 40, 140)
        assert buffer.numbers.start > again
        buffer.add(episode(again))
        buffer.commit()
        buffer.load(state)
        assert buffer.node(f"{ENV}:0:{again}").reward == episode(again).rewards[0]
        write(buffer, 40, 140)
        buffer.add(episode(again))
        newest = buffer.state()["next"] - 1
        assert min(path.name for path in buffer.folder.glob("segment-*")) > "segment-00000003", "the old one is purged"
        assert buffer.node(f"{ENV}:0:{again}").reward == episode(again).rewards[0]
        assert same(buffer.episode(newest), episode(again))


def test_the_disk_is_given_back_when_no_state_needs_it(tmp_path: Path) -> None:
    """Else a capacity would be none."""
    with TrajectoryBuffer(tmp_path / "b", **FEW, states=1) as buffer:
        write(buffer, 0, 40)
        first = buffer.state()
        write(buffer, 40, 140)
        assert len(contents(buffer.folder)) > 6
        buffer.state()
        assert len(contents(buffer.folder)) == 3
        with pytest.raises(ValueError, match="were dropped and are gone; a buffer keeps what the latest states=1 need"):
            buffer.load(first)
        assert buffer.numbers.stop == 140, "nothing was changed"


def test_what_is_left_of_a_state_can_be_gone_back_to(tmp_path: Path) -> None:
    """Where that is asked for. What goes on from there comes to the bits of an undisturbed run as soon as that one has
    dropped what is gone, too."""
    with TrajectoryBuffer(tmp_path / "calm", **FEW) as calm:
        write(calm, 0, 90)
        expected = digest(calm)
    with TrajectoryBuffer(tmp_path / "b", **FEW, states=1) as buffer:
        write(buffer, 0, 40)
        state = buffer.state()
        write(buffer, 40, 55)
        left = buffer.state()["first"]
        assert state["first"] < left < 40
        with pytest.raises(ValueError, match="were dropped and are gone"):
            buffer.load(state)
        assert buffer.load(state, partly=True) == left - state["first"]
        assert buffer.numbers == range(left, 40)
        assert buffer.verify() == []
        assert all(same(buffer.episode(number), episode(number)) for number in buffer.numbers)
        write(buffer, 40, 90)
        assert digest(buffer) == expected
        assert buffer.load(buffer.state(), partly=True) == 0
    assert contents(tmp_path / "b") == contents(tmp_path / "calm")


@pytest.mark.parametrize("backend", BACKENDS)
def test_where_nothing_is_left_of_a_state_it_begins_again_at_its_number(tmp_path: Path, backend: str) -> None:
    with TrajectoryBuffer(tmp_path / "b", **FEW, states=1, backend=backend) as buffer:
        write(buffer, 0, 40)
        old, early = buffer.state(), digest(buffer)[0]
        write(buffer, 40, 140)
        buffer.state()
        assert buffer.load(old, partly=True) == len(early)
        assert buffer.numbers == range(40, 40)
        assert contents(buffer.folder) == {}
    with TrajectoryBuffer(tmp_path / "b", **FEW, states=1, backend=backend) as buffer:
        write(buffer, 40, 45)
        state, before = buffer.state(), digest(buffer)
        write(buffer, 45, 50)
        assert buffer.load(state) == 0
        assert digest(buffer) == before
        assert buffer.numbers == range(40, 45)
        assert buffer.verify() == []
        with pytest.raises(ValueError, match="were dropped and are gone"):
            buffer.load(old)
        with pytest.raises(ValueError, match="the state has 99 episodes, this buffer 45"):
            buffer.load(old | {"next": 99}, partly=True)
        with pytest.raises(ValueError, match="another buffer's"):
            buffer.load(state | {"crc": state["crc"] ^ 1}, partly=True)


def test_the_beginning_can_be_gone_back_to(tmp_path: Path) -> None:
    """The first checkpoint of a run may be older than its first episode."""
    with TrajectoryBuffer(tmp_path / "b", segment_size=SMALL) as buffer:
        empty = buffer.state()
        write(buffer, 0, 30)
        buffer.load(empty)
        assert len(buffer) == 0
        assert contents(buffer.folder) == {}
        write(buffer, 5, 9)
        assert [each.timestamp for each in buffer.episodes(buffer.numbers)] == [5, 6, 7, 8]


def test_a_state_of_another_buffer_is_refused(tmp_path: Path) -> None:
    """By what the last episode was: numbers and sizes can agree."""
    with TrajectoryBuffer(tmp_path / "a") as one, TrajectoryBuffer(tmp_path / "b") as other:
        write(one, 0, 4)
        write(other, 100, 104)
        with pytest.raises(ValueError, match="another buffer's"):
            other.load(one.state())
        write(one, 4, 9)
        with pytest.raises(ValueError, match="the state has 9 episodes, this buffer 4"):
            other.load(one.state())
        with pytest.raises(ValueError, match="give what state"):
            other.load({"offset": 3})
        assert len(other) == 4
        assert other.verify() == []


def test_what_waits_for_its_commit_is_part_of_a_state_and_not_of_a_load(tmp_path: Path) -> None:
    with TrajectoryBuffer(tmp_path / "b") as buffer:
        buffer.add(episode(0))
        state = buffer.state()
        assert state["next"] == 1
        buffer.add(episode(1))
        buffer.load(state)
        buffer.add(episode(1))
        buffer.commit()
        assert len(buffer) == 2


@pytest.mark.parametrize("broken", ["remove", "cut"])
def test_going_back_can_be_done_again_where_it_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    """Between the index and the files: whoever opens it next finds what was to be removed, and removes it again."""
    with TrajectoryBuffer(tmp_path / "b", segment_size=SMALL) as buffer:
        write(buffer, 0, 20)
        state, expected = buffer.state(), contents(tmp_path / "b")
        write(buffer, 20, 60)
        monkeypatch.setattr(Segments, broken, interrupted)
        with pytest.raises(KeyboardInterrupt):
            buffer.load(state)
        monkeypatch.undo()
    with TrajectoryBuffer(tmp_path / "b", segment_size=SMALL) as buffer:
        assert buffer.verify() == []
        assert [each.timestamp for each in buffer.episodes(buffer.numbers)] == list(buffer.numbers)
        buffer.load(state)
        assert buffer.numbers == range(20)
        assert contents(tmp_path / "b") == expected


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def test_what_is_gone_for_good_leaves_no_key_behind(tmp_path: Path) -> None:
    """Whoever comes again is not taken for one of those that have its number now."""
    with TrajectoryBuffer(tmp_path / "b", **FEW, states=2) as buffer:
        write(buffer, 0, 10)
        state = buffer.state()
        write(buffer, 10, 150)
        buffer.state()
        write(buffer, 150, 160)
        assert buffer.numbers.start > 10, "all that the state needs is dropped, and what came after it is not"
        buffer.load(state, partly=True)
        write(buffer, 1_000, 1_030)  # other episodes have their numbers now
        write(buffer, 10, 160)
        assert buffer.verify() == []
