"""The badge: only after everything was done again, bound to every byte, and never brought along."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from forgery import edit, edit_line, load, read_rows, reseal

from rolf.leaderboard import verification
from rolf.leaderboard.performance import performed
from rolf.leaderboard.ranking import ranked
from rolf.leaderboard.validation import Validation, submissions
from rolf.splitting import find_split

Look = Callable[..., Validation]


def badge_of(board: Path, name: str, look: Look) -> str | None:
    looked = [look(each, count=0) for each in submissions(board)]
    (split,) = ranked(board, looked, verification.verified(board)).splits
    (entry,) = [entry for entry in split.entries if entry.name == name]
    return None if entry.verified is None else entry.verified.by


def give(board: Path, name: str, look: Look) -> None:
    looked = look(board / name, count=None)
    assert looked.valid
    verification.give(board, looked.digest, name, "Ada", episodes=looked.again, evaluated=0)


def test_a_badge_is_shown_where_it_was_given(lakes: Path, look: Look) -> None:
    assert badge_of(lakes, "walker", look) is None
    give(lakes, "walker", look)
    assert badge_of(lakes, "walker", look) == "Ada"
    assert badge_of(lakes, "wanderer", look) is None
    (badge,) = load(lakes / "verified.json")["badges"].values()
    assert (badge["how"], badge["episodes"], badge["name"]) == ("replayed", 12, "walker")


def test_a_second_badge_leaves_the_first(lakes: Path, look: Look) -> None:
    give(lakes, "walker", look)
    give(lakes, "wanderer", look)
    assert {badge_of(lakes, name, look) for name in ("walker", "wanderer")} == {"Ada"}


def test_a_folder_may_be_moved_and_keeps_its_badge(lakes: Path, look: Look) -> None:
    give(lakes, "walker", look)
    (lakes / "walker").rename(lakes / "best")
    assert badge_of(lakes, "best", look) == "Ada"


@pytest.mark.parametrize("change", ["a word in submission.json", "a space in results.jsonl", "a file of welcome"])
def test_editing_a_submission_afterwards_loses_the_badge(change: str, lakes: Path, look: Look) -> None:
    give(lakes, "walker", look)
    folder = lakes / "walker"
    if change.startswith("a word"):
        edit(folder / "submission.json", policy__description="better than it was")
    elif change.startswith("a space"):
        (folder / "results.jsonl").write_text((folder / "results.jsonl").read_text().replace(": ", ":  ", 1))
    else:
        (folder / "README.md").write_text("verified by Ada")
    assert look(folder).valid, "the change itself is allowed"
    assert badge_of(lakes, "walker", look) is None


def test_a_badge_cannot_be_brought_along(lakes: Path, look: Look) -> None:
    """Neither as a file of one's own nor as a key."""
    give(lakes, "walker", look)
    shutil.move(lakes / "verified.json", lakes / "walker" / "verified.json")
    assert any("verified.json: this file has no place here" in str(each) for each in look(lakes / "walker").problems)
    assert verification.verified(lakes) == {}


def test_a_file_of_badges_that_holds_something_else_is_an_error(lakes: Path) -> None:
    """Silence would show a board without its badges."""
    (lakes / "verified.json").write_text(json.dumps({"format": "rolf-verified/1", "badges": {"x": {}}}))
    with pytest.raises(ValueError, match=r"holds no badges: .*; mend it, or remove it"):
        verification.read(lakes)


def test_the_policy_itself_does_what_was_recorded(evaluated: Any, look: Look, contests: Any) -> None:
    looked = look(evaluated(contests("lake/slippery").split, "lake_policies:Wanderer"))
    assert performed(looked, "lake_policies:Wanderer", {}, 5) == 5


def test_a_policy_of_the_line_does_what_was_recorded_in_blocks(evaluated: Any, look: Look) -> None:
    """Alone, and not in the block that it was recorded in."""
    looked = look(evaluated(find_split("line-v1/iid[:2]"), "random"))
    assert performed(looked, "random", {}, 3) == 3
    with pytest.raises(ValueError, match="the policy did something else"):
        performed(looked, "threshold", {}, 3)


def test_another_policy_than_was_recorded_is_found_out(evaluated: Any, look: Look, contests: Any) -> None:
    looked = look(evaluated(contests("lake/slippery").split, "lake_policies:Wanderer"))
    with pytest.raises(
        ValueError, match=r"variant \d .*attempt \d: the policy did something else: .*does not come from"
    ):
        performed(looked, "lake_policies:Mirror", {}, 5)


def test_a_policy_that_is_said_to_be_another_kind_is_found_out(evaluated: Any, look: Look, contests: Any) -> None:
    looked = look(evaluated(contests("lake/still").split, "lake_policies:Walker"))
    with pytest.raises(ValueError, match="declares privileged = True, its submission False"):
        performed(looked, "lake_policies:Seer", {}, 5)


def test_one_attempt_of_a_policy_that_only_says_it_is_deterministic(evaluated: Any, look: Look, contests: Any) -> None:
    """From one attempt nothing can be seen; given other random numbers it goes another way."""
    split = contests("lake/still[:1]").split
    looked = look(evaluated(split, "lake_policies:Pretender", 1))
    assert looked.valid
    with pytest.raises(ValueError, match="when given other random numbers, though it is declared deterministic"):
        performed(looked, "lake_policies:Pretender", {}, 1)
    honest = look(evaluated(split, "lake_policies:Walker", 1))
    assert performed(honest, "lake_policies:Walker", {}, 1) == 1


def test_a_forged_episode_gets_no_badge(lakes: Path, look: Look) -> None:
    """All are played again: one forged among many is found for certain."""
    edit_line(lakes / "walker", read_rows(lakes / "walker")[7]["trajectory"], 2, info={"prob": 0.25})
    reseal(lakes / "walker")
    assert not look(lakes / "walker", count=None).valid
