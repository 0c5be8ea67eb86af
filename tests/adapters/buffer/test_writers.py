"""One writer, and readers beside it."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path

import kept_episodes
import pytest
from kept_episodes import episode, same, write

from rolf_adapters.buffer import Gone, SecondWriter, TrajectoryBuffer
from rolf_adapters.buffer.index import BACKENDS

OPEN = """
import sys
from rolf_adapters.buffer import SecondWriter, TrajectoryBuffer
try:
    TrajectoryBuffer(sys.argv[1], backend=sys.argv[2])
except SecondWriter as error:
    print(error)
"""


def opened_elsewhere(folder: Path, backend: str = "lmdb") -> str:
    """Open a buffer for writing in another process; return what it says of it."""
    command = [sys.executable, "-c", OPEN, str(folder), backend]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_second_writer_is_refused(tmp_path: Path, backend: str) -> None:
    """In another process, in this one, and under another name of the folder."""
    (tmp_path / "link").symlink_to(tmp_path)
    with TrajectoryBuffer(tmp_path / "b", backend=backend):
        assert "another process has" in opened_elsewhere(tmp_path / "b", backend)
        for folder in (tmp_path / "b", tmp_path / "link" / "b"):
            with pytest.raises(SecondWriter, match=r"this process has .* open for writing already"):
                TrajectoryBuffer(folder, backend=backend)
        assert "another process has" in opened_elsewhere(tmp_path / "b", backend), "a refusal lets nothing go"
    assert opened_elsewhere(tmp_path / "b", backend) == ""


def test_a_writer_that_was_killed_holds_nothing(tmp_path: Path) -> None:
    """A lock that outlives its process would keep a run from being resumed."""
    command = [sys.executable, kept_episodes.__file__, str(tmp_path / "b")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        with pytest.raises(SecondWriter):
            TrajectoryBuffer(tmp_path / "b")
        writer.kill()
    with TrajectoryBuffer(tmp_path / "b") as buffer:
        assert buffer.verify() == []


def test_a_reader_sees_what_a_writer_commits(tmp_path: Path) -> None:
    """A writer in another process, a reader that looks again and again; it never sees what is half written."""
    command = [sys.executable, kept_episodes.__file__, str(tmp_path / "b")]
    writer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert writer.stdout is not None
        promised, read = int(writer.stdout.readline()), 0
        with TrajectoryBuffer(tmp_path / "b", readonly=True) as reader:
            for _ in range(12):
                promised = int(writer.stdout.readline())
                reader.refresh()
                assert reader.numbers.stop >= promised
                newest = reader.numbers[-20:]
                with contextlib.suppress(Gone):  # where the writer is so far ahead that these are dropped
                    assert all(same(reader.episode(number), episode(number)) for number in newest)
                    read += 1
        assert read > 6
    finally:
        writer.kill()
        writer.communicate()


def test_a_reader_follows_what_is_dropped_and_what_is_gone_back_to(tmp_path: Path) -> None:
    """The numbers of episodes that were taken back come again with others."""
    command = [sys.executable, kept_episodes.__file__, str(tmp_path / "b"), "told"]
    writer = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert writer.stdin is not None
    assert writer.stdout is not None
    assert writer.stdout.readline() == "open\n"

    def tell(line: str) -> range:
        assert writer.stdin is not None
        assert writer.stdout is not None
        print(line, file=writer.stdin, flush=True)
        return range(*map(int, writer.stdout.readline().split()))

    with writer:
        tell("write 0 20")
        with TrajectoryBuffer(tmp_path / "b", readonly=True) as reader:
            held = reader.episode(0)
            numbers = tell("write 20 120")
            with pytest.raises(Gone):
                reader.graph(1)
            with pytest.raises(Gone, match="the writer dropped it"):
                reader.episode(12)
            reader.refresh()
            assert reader.numbers == numbers
            assert reader.numbers.start > 20
            assert all(same(reader.episode(number), episode(number)) for number in reader.numbers)
            assert same(held, episode(0)), "what was read stays"

            tell("state")
            tell("write 120 125")
            reader.refresh()
            assert same(reader.episode(124), episode(124))
            tell("load")
            numbers = tell("write 500 507")  # more than were taken back: only a look at all of it tells
            reader.refresh()
            assert reader.numbers == numbers
            assert [reader.episode(number).timestamp for number in range(120, 127)] == list(range(500, 507))
            assert same(reader.episode(122), episode(502))
            tell("load")
            reader.refresh()
            assert reader.numbers.stop == 120
        writer.stdin.close()
        assert writer.wait(timeout=60) == 0


def test_a_reader_holds_nothing_of_what_the_writer_has_removed(tmp_path: Path) -> None:
    """A file that somebody maps takes its room on the disk, whoever has removed it."""
    command = [sys.executable, kept_episodes.__file__, str(tmp_path / "b"), "told"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdin is not None
        assert writer.stdout is not None
        assert writer.stdout.readline() == "open\n"
        print("write 0 10", file=writer.stdin, flush=True)
        writer.stdout.readline()
        with TrajectoryBuffer(tmp_path / "b", readonly=True) as reader:
            for first in range(10, 120, 5):
                print(f"write {first} {first + 5}", file=writer.stdin, flush=True)
                writer.stdout.readline()
                reader.refresh()
                assert all(same(reader.episode(number), episode(number)) for number in reader.numbers)
            assert reader.numbers.start > 50
            held = reader._store._segments
            assert set(map(held.path, held._maps)) == set(reader.folder.glob("segment-*"))
            assert {number for found in held._whole.values() for number in found} == set(reader.numbers)
        writer.stdin.close()
        assert writer.wait(timeout=60) == 0


def test_a_process_does_not_read_beside_its_own_writer(tmp_path: Path) -> None:
    """LMDB keeps one of a file in a process; the writer reads as well."""
    with TrajectoryBuffer(tmp_path / "b") as buffer:
        write(buffer, 0, 1)
        with pytest.raises(RuntimeError, match=r"this process has .* open already; read through that"):
            TrajectoryBuffer(tmp_path / "b", readonly=True)


def test_a_reader_writes_nothing(tmp_path: Path) -> None:
    with TrajectoryBuffer(tmp_path / "b") as buffer:
        write(buffer, 0, 2)
        state = buffer.state()
    with TrajectoryBuffer(tmp_path / "b", readonly=True) as reader:
        for act in (lambda: reader.add(episode(9)), reader.commit, reader.state, lambda: reader.load(state)):
            with pytest.raises(RuntimeError, match="opened with readonly=True"):
                act()
