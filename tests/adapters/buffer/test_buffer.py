"""Keeping episodes and reading them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kept_episodes import ENV, SMALL, episode, same, write

from rolf_adapters.buffer import DuplicateKey, Gone, Key, TrajectoryBuffer
from rolf_adapters.buffer.index import BACKENDS


def files(buffer: TrajectoryBuffer) -> list[str]:
    """Return the names of the segments that are on the disk."""
    return sorted(path.name for path in buffer.folder.glob("segment-*"))


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_what_was_committed_comes_back(tmp_path: Path, backend: str) -> None:
    """In this process and in the next, over many segments, by number and by key."""
    with TrajectoryBuffer(tmp_path / "b", segment_size=SMALL, backend=backend) as buffer:
        write(buffer, 0, 60)
        assert len(list(buffer.folder.glob("segment-*"))) > 3
        assert all(same(buffer.episode(number), episode(number)) for number in range(60))
    with TrajectoryBuffer(tmp_path / "b", segment_size=SMALL, backend=backend) as buffer:
        assert (len(buffer), buffer.numbers) == (60, range(60))
        assert buffer.steps == sum(len(episode(number)) for number in range(60))
        assert all(map(same, buffer.episodes(range(60)), map(episode, range(60))))
        assert buffer.graph(7) == episode(7).graph
        node = buffer.node(f"{ENV}:1:7")
        assert node.extras["said"] == "step 1 of episode 7, größer"
        assert buffer.node(Key(ENV, 1, 7)).reward == node.reward
        assert buffer.verify() == []
        write(buffer, 60, 70)
        assert same(buffer.episode(69), episode(69))


def test_nothing_is_there_before_it_is_committed(tmp_path: Path) -> None:
    """Else a sample could hold what the next crash takes away."""
    with TrajectoryBuffer(tmp_path / "b", batch=3) as buffer:
        assert buffer.add(episode(0)) == 0
        assert len(buffer) == 0
        with pytest.raises(Gone):
            buffer.episode(0)
        buffer.add(episode(1))
        assert buffer.add(episode(2)) == 2
        assert len(buffer) == 3, "the batch is full"
        buffer.add(episode(3))
    with TrajectoryBuffer(tmp_path / "b", readonly=True) as buffer:
        assert len(buffer) == 4, "closing commits"


def test_what_is_added_is_copied(tmp_path: Path) -> None:
    """Collectors use their arrays again."""
    given = episode(0)
    with TrajectoryBuffer(tmp_path / "b") as buffer:
        buffer.add(given)
        assert isinstance(given.states["seen"], np.ndarray)
        given.states["seen"][:] = 0
        buffer.commit()
        assert same(buffer.episode(0), episode(0))


def test_an_environment_has_one_episode_of_a_time(tmp_path: Path, backend: str) -> None:
    """Or a key would name two steps. Once it is dropped, its time may come again."""
    with TrajectoryBuffer(tmp_path / "b", segment_size=SMALL, capacity=2 * SMALL, backend=backend) as buffer:
        buffer.add(episode(0))
        with pytest.raises(DuplicateKey, match=f"{ENV}:0:0 is there already"):
            buffer.add(episode(0))
        buffer.commit()
        with pytest.raises(DuplicateKey):
            buffer.add(episode(0))
        buffer.add(episode(0, "another"))
        write(buffer, 1, 100)
        assert buffer.numbers.start > 1
        buffer.add(episode(0))
        buffer.commit()
        assert same(buffer.episode(buffer.numbers[-1]), episode(0))


def test_the_oldest_segments_are_dropped_whole(tmp_path: Path, backend: str) -> None:
    """First in, first out; the disk is given back, and what remains is found as before."""
    with TrajectoryBuffer(tmp_path / "b", segment_size=SMALL, capacity=3 * SMALL, backend=backend, batch=5) as buffer:
        for number in range(120):
            buffer.add(episode(number))
            files = list(buffer.folder.glob("segment-*"))
            assert sum(file.stat().st_size for file in files) <= 3 * SMALL
        first = buffer.numbers.start
        assert 0 < first < 120
        assert len(files) == 3
        assert all(same(buffer.episode(number), episode(number)) for number in buffer.numbers)
        with pytest.raises(Gone, match=f"there is no episode {first - 1}; there are {first} to 119"):
            buffer.episode(first - 1)
        with pytest.raises(Gone, match="dropped"):
            buffer.node(f"{ENV}:0:{first - 1}")
    with TrajectoryBuffer(tmp_path / "b", segment_size=SMALL, capacity=3 * SMALL, backend=backend) as buffer:
        assert buffer.numbers == range(first, 120)


def test_what_is_remembered_of_episodes_goes_with_them(tmp_path: Path) -> None:
    """A buffer of some room may be written for weeks: what it has found whole must not add up."""
    with TrajectoryBuffer(tmp_path / "b", segment_size=SMALL, capacity=4 * SMALL, states=0) as buffer:
        for first in range(0, 200, 10):
            write(buffer, first, first + 10)
            assert all(same(buffer.episode(number), episode(number)) for number in buffer.numbers)
        assert buffer.numbers.start > 100
        held = buffer._store._segments
        assert {number for found in held._whole.values() for number in found} == set(buffer.numbers)
        assert [path.name for path in sorted(map(held.path, held._maps))] == files(buffer)


def test_an_episode_larger_than_a_segment_has_one_of_its_own(tmp_path: Path) -> None:
    """Long episodes exist; refusing them would lose what took longest to play."""
    with TrajectoryBuffer(tmp_path / "b", segment_size=4096, capacity=3 * 4096) as buffer:
        write(buffer, 0, 20)
    large = [buffer.folder / name for name in os.listdir(buffer.folder) if name.startswith("segment")]
    assert max(path.stat().st_size for path in large) <= 4096
    with TrajectoryBuffer(tmp_path / "c", segment_size=4096) as buffer:
        given = episode(0)
        long = given.__class__("long", 0, {}, {"a": np.arange(5_000)}, np.zeros(5_000))
        for each in (given, long, episode(1)):
            buffer.add(each)
        buffer.commit()
        assert same(buffer.episode(1), long)
        assert same(buffer.episode(2), episode(1))


def test_arrays_outlive_what_they_were_read_from(tmp_path: Path) -> None:
    """They are views of files that are dropped, cut and closed while somebody learns from them."""
    buffer = TrajectoryBuffer(tmp_path / "b", segment_size=SMALL, capacity=2 * SMALL)
    write(buffer, 0, 8)
    state = buffer.state()
    held = [buffer.episode(number) for number in range(8)]
    write(buffer, 8, 12)
    held += [buffer.episode(number) for number in range(8, 12)]
    buffer.load(state)
    write(buffer, 20, 120)
    buffer.close()
    buffer.close()
    assert all(map(same, held, map(episode, range(12))))


def test_a_buffer_belongs_to_the_process_that_opened_it(tmp_path: Path) -> None:
    """LMDB is damaged by being used across a fork (py-lmdb 269, 308)."""
    with TrajectoryBuffer(tmp_path / "b") as buffer:
        write(buffer, 0, 3)
        child = os.fork()
        if child == 0:  # pragma: no cover - the child
            code = 1
            try:
                buffer.episodes([0])
            except RuntimeError as error:
                code = 0 if "after the fork" in str(error) else 2
            buffer.close()
            os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        write(buffer, 3, 6)
        assert same(buffer.episode(5), episode(5))


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"segment_size": 100}, "segment_size=100 is too small"),
        ({"capacity": 1 << 20}, "fewer than two segments"),
        ({"alpha": 1.5}, r"alpha=1\.5 is out of range"),
        ({"batch": 0}, "batch=0"),
        ({"states": -1}, "states=-1"),
        ({"backend": "sqlite"}, "backend='sqlite' is not known; allowed are 'lmdb', 'leveldb'"),
        ({"backend": "leveldb", "readonly": True}, "backend='lmdb'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(tmp_path: Path, wrong: dict[str, Any], told: str) -> None:
    with TrajectoryBuffer(tmp_path / "b") as buffer:
        write(buffer, 0, 1)
    with pytest.raises((ValueError, FileNotFoundError), match=told):
        TrajectoryBuffer(tmp_path / "b", **wrong)
    with TrajectoryBuffer(tmp_path / "b") as buffer:
        assert len(buffer) == 1, "and the lock is free again"


def test_there_must_be_something_to_read(tmp_path: Path) -> None:
    """A reader that made a buffer would wait for ever for what goes elsewhere."""
    with pytest.raises(FileNotFoundError, match="no trajectory buffer"):
        TrajectoryBuffer(tmp_path / "nothing", readonly=True)
    assert not (tmp_path / "nothing").exists()


def test_a_key_that_names_no_step_is_gone(tmp_path: Path) -> None:
    with TrajectoryBuffer(tmp_path / "b") as buffer:
        write(buffer, 0, 1)
        with pytest.raises(Gone, match="the episode has steps 0 to"):
            buffer.node(f"{ENV}:99:0")
        with pytest.raises(Gone, match="never committed"):
            buffer.node(f"{ENV}:0:1")
