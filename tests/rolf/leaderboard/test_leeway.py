"""What may differ when an episode is played again, and what may not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from forgery import read_lines, write_lines

from rolf.evaluation.recording import Recorded, read
from rolf.leaderboard.leeway import masked, repeated
from rolf.variant import Variant
from rolf_wrappers import RecordTrajectory


def recorded(folder: Path, what: str, **edits: Any) -> tuple[Variant, Recorded]:
    """Play an episode, edit its step, and return it."""
    variant = Variant("unsteady:Unsteady-v0", {"what": what})
    with RecordTrajectory(variant.make(), folder / "episode.jsonl") as env:
        env.reset(seed=1)
        env.step(1)
    lines = [json.loads(line) for line in (folder / "episode.jsonl").read_text().splitlines()]
    lines[2] |= edits
    write_lines(folder / "episode.jsonl.gz", lines)
    assert read_lines(folder / "episode.jsonl.gz")[2]["action"] == [1]
    return variant, read(folder / "episode.jsonl.gz")


def test_what_is_the_same_passes_without_a_word(tmp_path: Path) -> None:
    found = repeated(*recorded(tmp_path, "nothing"), 1)
    assert (found.wrong, found.passed) == (None, ())


def test_what_is_never_the_same_passes(tmp_path: Path) -> None:
    found = repeated(*recorded(tmp_path, "text"), 1)
    assert found.wrong is None
    assert [place.field for place in found.passed] == ["observation"]


def test_a_reward_never_differs_even_where_it_is_never_the_same(tmp_path: Path) -> None:
    """A repetition that differs from itself excuses a text; what is ranked by it does not."""
    found = repeated(*recorded(tmp_path, "reward"), 1)
    assert found.wrong is not None
    assert found.wrong.field == "reward"


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("it is 09:01 on Tue, 1 Dec", True),
        ("it is  9:01 on Tuesday,   1 December", True),
        ("it is 11:20 on Mon, 30 Nov and all is well", False),
        ("", False),
        (7, False),
    ],
)
def test_text_may_differ_in_numbers_and_dates_alone(text: Any, passes: bool, tmp_path: Path) -> None:
    found = repeated(*recorded(tmp_path, "nothing", observation=text), 1)
    assert (found.wrong is None) is passes
    assert [place.field for place in found.passed] == (["observation"] if passes else [])


@pytest.mark.parametrize("field", ["terminated", "truncated"])
def test_the_end_never_differs(field: str, tmp_path: Path) -> None:
    found = repeated(*recorded(tmp_path, "text", **{field: field == "truncated"}), 1)
    assert found.wrong is not None
    assert found.wrong.field == field


def test_words_are_not_masked() -> None:
    assert masked("-rw-r--r-- 1 root  512 Nov 30 11:20 Novel.txt") == "-rw-r--r-- 0 root 0 Jan 0 0:0 Novel.txt"
    assert masked("drwx 2 ada") != masked("drwx 2 bea")
