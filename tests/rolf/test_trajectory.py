"""Trajectory files: what is written comes back, and what was cut off is told."""

from __future__ import annotations

import json
from enum import Enum
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rolf.trajectory import (
    FORMAT,
    LARGEST_ARRAY,
    TrajectoryError,
    TrajectoryWriter,
    jsonable,
    package_versions,
    read_trajectory,
)


class Colour(Enum):
    RED = "red"


class Point(NamedTuple):
    x: int
    y: int


def write(path: Path, *lines: dict[str, object]) -> Path:
    with TrajectoryWriter(path) as writer:
        writer.write("header", format=FORMAT)
        for line in lines:
            writer.write("step", **line)
    return path


def test_returns_what_was_written(tmp_path: Path) -> None:
    trajectory = read_trajectory(write(tmp_path / "t.jsonl", {"reward": 0.1}, {"reward": 2.0}))
    assert [line.content["reward"] for line in trajectory.lines] == [0.1, 2.0]
    assert [line.number for line in trajectory.lines] == [2, 3]
    assert trajectory.cut is None


def test_is_readable_up_to_the_line_a_crash_cut_off(tmp_path: Path) -> None:
    """A trainer that is killed in mid-write must not lose the steps before."""
    path = write(tmp_path / "t.jsonl", {"reward": 0.1}, {"reward": 2.0})
    whole = path.read_bytes()
    for length in range(whole.rindex(b"{"), len(whole) - 1):
        path.write_bytes(whole[: length + 1])
        trajectory = read_trajectory(path)
        assert len(trajectory.lines) == 1 if length + 1 < len(whole) - 1 else 2
        if length + 1 < len(whole) - 1:
            assert trajectory.cut is not None
            assert "line 3 was cut off" in trajectory.cut


def test_refuses_damage_in_the_middle(tmp_path: Path) -> None:
    """A bad line with good ones after it is no crash: whatever follows cannot be trusted."""
    path = write(tmp_path / "t.jsonl", {"reward": 0.1}, {"reward": 2.0})
    lines = path.read_text().splitlines(keepends=True)
    path.write_text(lines[0] + lines[1][:10] + "\n" + lines[2])
    with pytest.raises(TrajectoryError, match="line 2 is not JSON"):
        read_trajectory(path)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "the file is empty"),
        (b"PK\x03\x04", "line 1 was cut off"),
        (b"hello\n", "line 1 is not JSON"),
        (b"[1]\n", "it has no 'type'"),
        (b'{"type":"step"}\n', "begins with 'step'"),
        (b'{"type":"header","format":"rolf-trajectory/99"}\n', "rolf-trajectory/99"),
    ],
)
def test_says_why_a_file_is_no_trajectory(tmp_path: Path, content: bytes, told: str) -> None:
    path = tmp_path / "x"
    path.write_bytes(content)
    with pytest.raises(TrajectoryError, match=told):
        read_trajectory(path)


def test_every_line_is_on_disk_at_once(tmp_path: Path) -> None:
    """Nothing may wait in a buffer when the process is killed."""
    writer = TrajectoryWriter(tmp_path / "t.jsonl")
    writer.write("header", format=FORMAT)
    assert (tmp_path / "t.jsonl").read_text().endswith("}\n")
    writer.close()
    writer.close()


def test_does_not_overwrite_unasked(tmp_path: Path) -> None:
    path = write(tmp_path / "a" / "t.jsonl")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        TrajectoryWriter(path)
    TrajectoryWriter(path, overwrite=True).close()


def test_plain_forms() -> None:
    value = {
        "enum": Colour.RED,
        "named": Point(1, 2),
        "bytes": b"\xff",
        "array": np.arange(3),
        "scalar": np.float64(0.5),
        "objects": np.array([None, (1,)], dtype=object),
        "set": {"b", "a"},
        7: "key",
    }
    assert jsonable(value) == {
        "enum": "red",
        "named": {"x": 1, "y": 2},
        "bytes": {"base64": "/w=="},
        "array": [0, 1, 2],
        "scalar": 0.5,
        "objects": [None, [1]],
        "set": ["a", "b"],
        "7": "key",
    }


def test_large_arrays_are_kept_as_a_digest() -> None:
    """A video frame a step would make files of gigabytes; equality is all that a replay needs."""
    frame = np.zeros(LARGEST_ARRAY + 1, dtype=np.uint8)
    changed = frame.copy()
    changed[-1] = 1
    assert jsonable(frame) == jsonable(frame.copy())
    assert jsonable(frame) != jsonable(changed)
    assert len(json.dumps(jsonable(frame))) < 200


def test_refuses_what_no_other_process_could_compare() -> None:
    with pytest.raises(TypeError, match="cannot hold <object"):
        jsonable({"x": object()})


@given(st.recursive(st.none() | st.integers() | st.floats() | st.text(), lambda x: st.lists(x) | st.tuples(x, x)))
def test_equal_values_are_equal_after_the_way_through_a_file(value: object) -> None:
    """NaN and lone surrogates included: a replay compares what was read with what it sees."""
    plain = jsonable(value)
    assert json.dumps(jsonable(json.loads(json.dumps(plain)))) == json.dumps(plain)


def test_says_what_it_was_made_with() -> None:
    assert {"python", "kernel", "gymnasium", "numpy"} <= set(package_versions())
