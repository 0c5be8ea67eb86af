"""What was committed stays: killed processes, torn ends, flipped bits, full disks, a lost index."""

from __future__ import annotations

import os
import random
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import kept_episodes
import pytest
from kept_episodes import FEW, SMALL, episode, same, write

from rolf_adapters.buffer import BufferFull, Damaged, TrajectoryBuffer, framing, lmdb_index
from rolf_adapters.buffer.catalogue import entry
from rolf_adapters.buffer.index import BACKENDS

WRITER = [sys.executable, kept_episodes.__file__]


def promised_until_killed(folder: Path, after: float) -> int:
    """Let a writer write, kill it, and return how many episodes it had said were committed."""
    with subprocess.Popen([*WRITER, str(folder)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        promised = writer.stdout.readline()
        deadline = time.monotonic() + after
        while time.monotonic() < deadline:
            promised = writer.stdout.readline()
        writer.send_signal(signal.SIGKILL)
        return int(([promised, *writer.stdout.read().splitlines()])[-1])


@pytest.mark.parametrize("kills", [8, pytest.param(60, marks=pytest.mark.nightly)])
def test_a_kill_at_any_moment_loses_nothing_that_was_committed(tmp_path: Path, kills: int) -> None:
    """A real process, killed again and again in the middle of writing, dropping and keeping states, each time going on
    where the last one was."""
    draw, folder = random.Random(kills), tmp_path / "b"
    for _ in range(kills):
        promised = promised_until_killed(folder, draw.uniform(0.0, 0.06))
        with TrajectoryBuffer(folder, **FEW) as buffer:
            assert buffer.numbers.stop >= promised
            assert all(same(buffer.episode(number), episode(number)) for number in buffer.numbers)
            assert buffer.node(f"{kept_episodes.ENV}:0:{promised - 1}").reward == episode(promised - 1).rewards[0]
    assert buffer.numbers.start > 0, "some were dropped"


def unindexed(folder: Path, committed: int, beyond: int) -> tuple[Path, int]:
    """Make a buffer whose last episodes the index does not know; return the last segment and where they begin."""
    with TrajectoryBuffer(folder) as buffer:
        write(buffer, 0, committed)
        shutil.copytree(folder / "index-lmdb", folder.with_suffix(".index"))
        segment = next(folder.glob("segment-*"))
        begins = segment.stat().st_size
        write(buffer, committed, committed + beyond)
    shutil.rmtree(folder / "index-lmdb")
    shutil.copytree(folder.with_suffix(".index"), folder / "index-lmdb")
    return segment, begins


def test_what_the_index_does_not_know_is_taken_up(tmp_path: Path) -> None:
    """A process that dies between the two has written it, in order."""
    unindexed(tmp_path / "b", 5, 4)
    with TrajectoryBuffer(tmp_path / "b") as buffer:
        assert len(buffer) == 9
        assert all(same(buffer.episode(number), episode(number)) for number in range(9))
        assert buffer.graph(8) == episode(8).graph
        assert (buffer.priorities(8) > 0).any()
        write(buffer, 9, 12)
    with TrajectoryBuffer(tmp_path / "b", readonly=True) as buffer:
        assert all(same(buffer.episode(number), episode(number)) for number in range(12))


def test_an_end_that_is_torn_anywhere_is_dropped(tmp_path: Path) -> None:
    """Cut at many places in three episodes: those that are whole stay, in order, and writing goes on."""
    segment, begins = unindexed(tmp_path / "b", 2, 3)
    data, numbers = segment.read_bytes(), set()
    for end in [*range(begins, len(data), 101), len(data) - 1, len(data)]:
        segment.write_bytes(data[:end])
        shutil.rmtree(tmp_path / "b" / "index-lmdb")
        shutil.copytree(tmp_path / "b.index", tmp_path / "b" / "index-lmdb")
        with TrajectoryBuffer(tmp_path / "b") as buffer:
            count = len(buffer)
            numbers.add(count)
            write(buffer, count, count + 1)
            assert all(same(buffer.episode(number), episode(number)) for number in range(count + 1))
    assert numbers == {2, 3, 4, 5}


def test_what_is_whole_is_found_however_the_end_is_torn() -> None:
    """At every byte: cut, and cut with rubbish behind it."""
    records = [b"".join(framing.framed(number, bytes(range(number, number + 37)))) for number in (4, 5, 6)]
    data = framing.header(0, 4) + b"".join(records)
    ends = [framing.HEADER_SIZE + sum(map(len, records[:count])) for count in range(4)]
    for end in range(framing.HEADER_SIZE, len(data) + 1):
        # The padding that fills a record up to eight bytes is no part of it.
        whole = sum(end >= each - 3 for each in ends[1:])
        for rubbish in (b"", b"EPIS" * 20, bytes(50)):
            scanned = framing.scan(data[:end] + rubbish, framing.HEADER_SIZE, 4)
            assert [record.number for record in scanned.records] == list(range(4, 4 + whole)), end
            assert (scanned.end, scanned.sealed) == (ends[whole], False)


def test_a_record_out_of_its_order_ends_what_is_whole() -> None:
    """It lay there before: a file system may give old blocks back."""
    data = framing.header(0, 0) + b"".join(b"".join(framing.framed(number, b"x" * 8)) for number in (0, 1, 3))
    assert [record.number for record in framing.scan(data, framing.HEADER_SIZE, 0).records] == [0, 1]


def test_a_flipped_bit_in_the_torn_end_ends_it_there(tmp_path: Path) -> None:
    """What was not committed is dropped from the first wrong byte on: never a gap."""
    segment, begins = unindexed(tmp_path / "b", 2, 3)
    data = segment.read_bytes()
    for place in random.Random(0).sample(range(begins, len(data)), 40):
        segment.write_bytes(data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :])
        shutil.rmtree(tmp_path / "b" / "index-lmdb")
        shutil.copytree(tmp_path / "b.index", tmp_path / "b" / "index-lmdb")
        with TrajectoryBuffer(tmp_path / "b") as buffer:
            assert 2 <= len(buffer) <= 5
            assert all(same(buffer.episode(number), episode(number)) for number in buffer.numbers)


def test_a_flipped_bit_in_what_was_committed_is_told_and_costs_one_episode(tmp_path: Path) -> None:
    """Wherever in it the bit is: head, length, layout or numbers."""
    with TrajectoryBuffer(tmp_path / "b", segment_size=SMALL) as buffer:
        write(buffer, 0, 40)
        found = entry(buffer._store.index, 13)
        assert found is not None
        place = found.place
        segment = buffer._store._segments.path(place.segment)
    data = segment.read_bytes()
    for at in [0, 5, 9, 17, 24, 30, 60, 100, place.length // 2, place.length + 23]:
        where = place.offset + at
        segment.write_bytes(data[:where] + bytes([data[where] ^ 16]) + data[where + 1 :])
        with TrajectoryBuffer(tmp_path / "b", segment_size=SMALL) as buffer:
            with pytest.raises(Damaged, match=f"episode 13 at byte {place.offset} of .*the others can be read"):
                buffer.episode(13)
            assert buffer.verify() == [13]
            assert all(same(buffer.episode(number), episode(number)) for number in range(40) if number != 13)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_lost_index_is_made_anew_from_the_segments(tmp_path: Path, backend: str) -> None:
    """Also where the first segments have been dropped."""
    with TrajectoryBuffer(tmp_path / "b", **FEW) as buffer:
        write(buffer, 0, 100)
        numbers, priorities = buffer.numbers, buffer.priorities(99).tolist()
        assert numbers.start > 0
    shutil.rmtree(tmp_path / "b" / "index-lmdb")
    with TrajectoryBuffer(tmp_path / "b", **FEW, backend=backend) as buffer:
        assert buffer.numbers == numbers
        assert all(same(buffer.episode(number), episode(number)) for number in numbers)
        assert buffer.priorities(99).tolist() == priorities
        write(buffer, 100, 110)
        assert same(buffer.episode(109), episode(109))


def test_without_an_index_nothing_is_removed_behind_a_damage(tmp_path: Path) -> None:
    """Every episode behind it was committed once."""
    with TrajectoryBuffer(tmp_path / "b", segment_size=SMALL) as buffer:
        write(buffer, 0, 60)
    shutil.rmtree(tmp_path / "b" / "index-lmdb")
    second = sorted((tmp_path / "b").glob("segment-*"))[1]
    data = bytearray(second.read_bytes())
    data[len(data) // 2] ^= 1
    second.write_bytes(data)
    before = {path: path.stat().st_size for path in (tmp_path / "b").glob("segment-*")}
    with pytest.raises(Damaged, match="put the index back"):
        TrajectoryBuffer(tmp_path / "b", segment_size=SMALL)
    assert {path: path.stat().st_size for path in (tmp_path / "b").glob("segment-*")} == before


def test_a_folder_of_another_format_is_refused(tmp_path: Path) -> None:
    with TrajectoryBuffer(tmp_path / "b") as buffer:
        write(buffer, 0, 1)
        buffer._store.index.write([(b"m", b'{"format": 2}')], [])
    with pytest.raises(Damaged, match="format 2; this version of rolf reads 1"):
        TrajectoryBuffer(tmp_path / "b")
    with pytest.raises(ValueError, match="has an index of lmdb; give backend='lmdb'"):
        TrajectoryBuffer(tmp_path / "b", backend="leveldb")


def test_a_file_that_may_not_grow_keeps_what_was_committed(tmp_path: Path) -> None:
    """By a limit of the process, which an ordinary user meets too; when there is room, the rest is committed."""
    with TrajectoryBuffer(tmp_path / "b") as buffer:
        write(buffer, 0, 10)
        size = next((tmp_path / "b").glob("segment-*")).stat().st_size
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 1000, hard))
        try:
            for number in range(10, 20):
                buffer.add(episode(number))
            with pytest.raises(BufferFull, match="make room and commit again"):
                buffer.commit()
            assert (len(buffer), buffer.verify()) == (10, [])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert next((tmp_path / "b").glob("segment-*")).stat().st_size == size
        buffer.commit()
        assert all(same(buffer.episode(number), episode(number)) for number in range(20))


def test_what_a_failed_commit_left_behind_is_not_mixed_with_what_comes(tmp_path: Path) -> None:
    """Where taking it back was interrupted too, whole old records could lie behind new ones, in their order."""
    with TrajectoryBuffer(tmp_path / "b") as buffer:
        write(buffer, 0, 3)
        segment = next(buffer.folder.glob("segment-*"))
        with segment.open("ab") as file:
            file.write(bytes(50_000))
        write(buffer, 3, 4)
        assert segment.stat().st_size == buffer._store.extent.offset


FULL_DISK = """
import sys
from pathlib import Path
from kept_episodes import FEW, SMALL, episode, same, write
from rolf_adapters.buffer import BufferFull, TrajectoryBuffer
backend = sys.argv[1]
blocker = Path("disk/blocker")
with TrajectoryBuffer("disk/b", segment_size=SMALL, backend=backend) as buffer:
    write(buffer, 0, 10)
    blocker.write_bytes(bytes(600_000))
    full = 0
    for start in range(10, 4000, 10):
        for number in range(start, start + 10):
            buffer.add(episode(number))
        try:
            buffer.commit()
        except BufferFull:
            full = start
            break
    assert full, "the disk was never full"
    assert len(buffer) == full and buffer.verify() == []
    try:
        buffer.commit()
    except BufferFull:
        pass
    else:
        raise AssertionError("there was room after all")
    assert all(same(buffer.episode(n), episode(n)) for n in range(full))
    blocker.unlink()
    buffer.commit()
    assert len(buffer) == full + 10
with TrajectoryBuffer("disk/b", segment_size=SMALL, backend=backend) as buffer:
    assert len(buffer) == full + 10 and buffer.verify() == []
    assert all(same(buffer.episode(n), episode(n)) for n in buffer.numbers)
print("committed", full)
"""


@pytest.mark.root
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_full_disk_keeps_what_was_committed(tmp_path: Path, backend: str) -> None:
    """A real file system of 1.5 MB, full in the middle of writing; with room again, the same episodes are committed."""
    (tmp_path / "disk").mkdir()
    (tmp_path / "play.py").write_text(FULL_DISK)
    command = shlex.join([sys.executable, "play.py", backend])
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", f"mount -t tmpfs -o size=1500k none disk && exec {command}"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(kept_episodes.__file__).parent)},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("committed")


def test_an_interrupt_after_the_index_was_written_is_no_second_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """^C is heard between two instructions: also right behind the one that has made it permanent."""
    with TrajectoryBuffer(tmp_path / "b") as buffer:
        write(buffer, 0, 3)
        index = buffer._store.index
        whole = index.write

        def interrupted(puts: list[tuple[bytes, bytes]], deletes: list[bytes]) -> None:
            whole(puts, deletes)
            raise KeyboardInterrupt

        monkeypatch.setattr(index, "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            write(buffer, 3, 5)
        monkeypatch.undo()
        shutil.copytree(tmp_path / "b", tmp_path / "killed")
        assert len(buffer) == 5
        buffer.commit()
        assert [same(buffer.episode(number), episode(number)) for number in buffer.numbers] == [True] * 5
    for folder in ("b", "killed"):
        with TrajectoryBuffer(tmp_path / folder) as buffer:
            assert (len(buffer), buffer.verify()) == (5, [])


def test_the_episodes_are_on_the_disk_before_the_index_knows_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the power fails in between there must be no entry without its episode. A new file needs its folder too."""
    done: list[str] = []
    with TrajectoryBuffer(tmp_path / "b", segment_size=SMALL) as buffer:
        index = buffer._store.index
        for module, name in ((os, "fdatasync"), (os, "fsync"), (index, "write")):
            whole = getattr(module, name)

            def told(*given: Any, name: str = name, whole: Any = whole) -> Any:
                done.append(name)
                return whole(*given)

            monkeypatch.setattr(module, name, told)
        write(buffer, 0, 5)
        assert done == ["fdatasync", "fsync", "write"]
        done.clear()
        write(buffer, 5, 7)
        assert done == ["fdatasync", "write"]
        monkeypatch.undo()


def test_what_a_killed_writer_left_is_on_the_disk_before_the_index_knows_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have died between writing and fdatasync; whoever opens the buffer next makes up for that."""
    with TrajectoryBuffer(tmp_path / "b") as buffer:
        write(buffer, 0, 5)
    (index,) = (each for each in (tmp_path / "b").iterdir() if each.is_dir() and "lmdb" in each.name)
    shutil.copytree(index, tmp_path / "older")
    with TrajectoryBuffer(tmp_path / "b") as buffer:
        write(buffer, 5, 7)
    shutil.rmtree(index)
    shutil.copytree(tmp_path / "older", index)
    done: list[str] = []
    for owner, name in ((os, "fdatasync"), (lmdb_index.LmdbIndex, "write")):
        whole = getattr(owner, name)

        def told(*given: Any, name: str = name, whole: Any = whole) -> Any:
            done.append(name)
            return whole(*given)

        monkeypatch.setattr(owner, name, told)
    with TrajectoryBuffer(tmp_path / "b") as buffer:
        assert (len(buffer), done) == (7, ["fdatasync", "write"])
    monkeypatch.undo()


def write_by_tens(buffer: TrajectoryBuffer) -> None:
    for start in range(0, 5_000, 10):
        write(buffer, start, start + 10)


def test_an_index_that_is_full_keeps_what_was_committed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """LMDB's file has a largest size; with a larger one the same episodes are committed."""
    monkeypatch.setattr(lmdb_index, "MAP_SIZE", 128 << 10)
    with TrajectoryBuffer(tmp_path / "b") as buffer:
        with pytest.raises(BufferFull, match="the index takes no more"):
            write_by_tens(buffer)
        full = len(buffer)
        assert full > 0
        assert buffer.verify() == []
        buffer._empty()
    monkeypatch.undo()
    with TrajectoryBuffer(tmp_path / "b") as buffer:
        assert len(buffer) == full
        write(buffer, full, full + 10)
        assert all(same(buffer.episode(number), episode(number)) for number in range(full + 10))


def test_verifying_reads_again_what_was_read_before(tmp_path: Path) -> None:
    """Disks go bad while a run lasts."""
    with TrajectoryBuffer(tmp_path / "b") as buffer:
        write(buffer, 0, 3)
        assert buffer.verify() == []
        segment = next(buffer.folder.glob("segment-*"))
        data = bytearray(segment.read_bytes())
        data[-9] ^= 1
        segment.write_bytes(data)
        assert buffer.verify() == [2]
