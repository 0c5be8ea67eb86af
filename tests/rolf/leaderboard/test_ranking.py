"""Boards of really evaluated submissions: order, shared places, references apart, and what is told of each."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from forgery import edit, edit_row, reseal_rows
from jsonschema import Draft202012Validator

from rolf.evaluation.episode import Episode
from rolf.leaderboard.board import Board, Comparison, Estimate
from rolf.leaderboard.contest import Contests
from rolf.leaderboard.figures import Figures, compare, together
from rolf.leaderboard.markdown import columns, escaped, markdown, standings
from rolf.leaderboard.ranking import contender, places, ranked
from rolf.leaderboard.schemas import shipped
from rolf.leaderboard.validation import Validation, submissions
from rolf.leaderboard.verification import verified
from rolf.splitting import find_split

Look = Callable[..., Validation]
CONTESTANTS = ("walker", "walker-again", "wanderer")


def board_of(folder: Path, look: Look) -> Board:
    return ranked(folder, [look(each, count=0) for each in submissions(folder)], verified(folder))


def versus(first: str, second: str, low: float, high: float, p_value: float = 0.01) -> Comparison:
    nothing = Estimate(0.0, None, None)
    return Comparison(first, second, Estimate((low + high) / 2, low, high), nothing, nothing, 0.1, p_value, 40)


@pytest.mark.parametrize(
    ("tied", "expected"),
    [
        (set(), {"a": (1, 1), "b": (2, 2), "c": (3, 3)}),
        ({"ab"}, {"a": (1, 2), "b": (1, 2), "c": (3, 3)}),
        ({"ab", "bc"}, {"a": (1, 2), "b": (1, 3), "c": (2, 3)}),
        ({"ab", "bc", "ac"}, {"a": (1, 3), "b": (1, 3), "c": (1, 3)}),
    ],
)
def test_whose_difference_may_be_zero_share_places(tied: set[str], expected: dict[str, tuple[int, int]]) -> None:
    compared = {
        (one, two): versus(one, two, -0.1 if one + two in tied else 0.1, 0.3) for one, two in combinations("abc", 2)
    }
    assert places("abc", compared) == expected


@pytest.mark.parametrize(
    ("low", "p_value", "tied"), [(0.1, 0.049, False), (0.1, 0.05, True), (-0.1, 0.049, True), (-0.1, 0.5, True)]
)
def test_told_apart_are_two_whom_both_the_interval_and_the_test_tell_apart(
    low: float, p_value: float, tied: bool
) -> None:
    assert versus("a", "b", low, 0.3, p_value).tied is tied


def test_two_clusters_tell_nobody_apart(evaluated: Any, copied: Any, look: Look) -> None:
    """Of the four ways to flip two signs one is as observed and one its opposite: p = 0.5, whatever the interval is."""
    split = find_split("line-v1/iid[:2]")
    for policy in ("random", "cusum"):
        folder = copied(evaluated(split, policy), f"few/{policy}").parent
    board = board_of(folder, look)
    (found,) = board.splits
    (pair,) = found.comparisons
    assert pair.difference.low is not None
    assert pair.difference.low > 0.0
    assert (pair.p_value, pair.clusters, pair.tied) == (0.5, 2, True)
    assert [(entry.name, entry.rank) for entry in found.entries] == [("cusum", (1, 2)), ("random", (1, 2))]
    assert found.caution == "Fewer than 10 clusters (2): intervals and places are not to be relied on."
    assert r"**Fewer than 10 clusters \(2\): intervals" in markdown(board)


def test_p_values_hold_for_all_contestants_at_once(lakes: Path, look: Look) -> None:
    """Holm: of three contestants the smallest of three p-values counts three times; a reference counts for nobody."""
    walker, again, wanderer = (contender(look(lakes / name, count=0), name) for name in CONTESTANTS)
    clusters = [str(variant) for variant in range(4)]
    raw = [
        compare((one.name, one.figures), (two.name, two.figures), clusters)
        for one, two in combinations((walker, again, wanderer), 2)
    ]
    assert [each.p_value for each in raw] == [1.0, 0.125, 0.125]
    assert [each.p_value for each in together(raw)] == [1.0, 0.375, 0.375]
    (split,) = board_of(lakes, look).splits
    found = {(each.first, each.second): each.p_value for each in split.comparisons}
    assert found["walker", "wanderer"] == 1.0, "0.5 of two clusters, three times"
    (lakes / "walker-again").rename(lakes.parent / "elsewhere")
    (split,) = board_of(lakes, look).splits
    found = {(each.first, each.second): each.p_value for each in split.comparisons}
    assert found["walker", "wanderer"] == 0.5, "the only pair of contestants; both pairs with the seer are another lot"
    assert found["wanderer", "seer"] == 1.0


def test_the_better_stands_higher_and_the_privileged_apart(lakes: Path, look: Look) -> None:
    (split,) = board_of(lakes, look).splits
    assert [(entry.name, entry.rank) for entry in split.entries] == [
        ("walker", (1, 3)),
        ("walker-again", (1, 3)),
        ("wanderer", (1, 3)),
        ("seer", None),
    ]
    walker, again, wanderer, seer = split.entries
    assert (walker.score.value, walker.success.value, walker.faults, walker.episodes) == (1.0, 0.0, 0, 12)
    assert walker.leader is None
    assert again.leader is not None
    assert (again.leader.difference.value, again.leader.tied) == (0.0, True)
    assert wanderer.leader is not None
    assert wanderer.leader.difference.value == pytest.approx(1.0 - wanderer.score.value)
    assert wanderer.leader.tied, "there are but two clusters"
    assert seer.leader is None
    assert [chance.attempts for chance in walker.chances] == [1, 2, 3]
    assert {group.name: group.variants for group in walker.families} == {"family 0": 2, "family 1": 2}
    assert (split.variants, split.clusters, split.attempts) == (4, 2, 3)


def test_every_two_are_compared_the_higher_one_first(lakes: Path, look: Look) -> None:
    (split,) = board_of(lakes, look).splits
    names = [entry.name for entry in split.entries]
    assert {(each.first, each.second) for each in split.comparisons} == set(combinations(names, 2))


def test_a_split_is_a_board_of_its_own(lakes: Path, look: Look, evaluated: Any, copied: Any, contests: Any) -> None:
    copied(evaluated(contests("lake/slippery").split, "lake_policies:Wanderer"), "board/slippery")
    board = board_of(lakes, look)
    assert [(split.split, len(split.entries)) for split in board.splits] == [("lake/slippery", 1), ("lake/still", 4)]


def test_what_is_refused_is_on_no_board_and_says_why(lakes: Path, look: Look) -> None:
    edit_row(lakes / "walker", 0, score=2.0)
    board = board_of(lakes, look)
    assert "walker" not in [entry.name for entry in board.splits[0].entries]
    (refused,) = board.refused
    assert refused.name == "walker"
    assert (
        "'score' is not what 00000-0.jsonl.gz gives: got 2.0, expected 1.0"
        in refused.problems[0] + refused.problems[-1]
    )


def test_a_folder_with_a_strange_name_is_refused(lakes: Path, look: Look) -> None:
    (lakes / "walker").rename(lakes / "<b>walker\n")
    (refused,) = board_of(lakes, look).refused
    assert refused.name == r"'<b>walker\n'"
    assert "no submission is called so" in refused.problems[0]


def test_submissions_may_lie_in_a_folder_for_each_split(lakes: Path, look: Look) -> None:
    (lakes / "still" / ".hidden").mkdir(parents=True)
    for name in ("walker", "wanderer"):
        (lakes / name).rename(lakes / "still" / name)
    (lakes / "seer").rename(lakes / "still" / ".hidden" / "seer")
    (split,) = board_of(lakes, look).splits
    assert [entry.name for entry in split.entries] == ["still/walker", "walker-again", "still/wanderer"]


def test_a_link_to_a_submission_is_not_on_the_board(lakes: Path, look: Look) -> None:
    (lakes / "linked").symlink_to(lakes / "walker")
    assert "linked" not in [entry.name for entry in board_of(lakes, look).splits[0].entries]


def test_a_board_of_lines_has_every_figure(evaluated: Any, copied: Any, look: Look) -> None:
    """Families, levels, physical parameters, robustness and samples, from labels that the line gives."""
    split = find_split("line-v1/iid[:6]")
    for policy in ("random", "cusum"):
        copied(evaluated(split, policy), f"lines/{policy}")
    folder = Path(copied(evaluated(split, "oracle"), "lines/oracle")).parent
    board = board_of(folder, look)
    (found,) = board.splits
    assert [(entry.policy["name"], entry.rank) for entry in found.entries] == [
        ("cusum", (1, 1)),
        ("random", (2, 2)),
        ("oracle", None),
    ]
    cusum = found.entries[0]
    assert cusum.robustness is not None
    assert cusum.robustness.worst
    assert {curve.name for curve in cusum.levels} <= {"load", "network", "sensor"}
    assert cusum.adaptivity
    assert all("[" in curve.name for curve in cusum.adaptivity), "a parameter has a unit"
    assert cusum.profile.values == tuple(sorted(cusum.profile.values, reverse=True))
    outcomes = [sample.success for sample in cusum.samples]
    assert set(outcomes) == {True, False}
    assert outcomes[:2] == [False, True], "failures and successes by turns"
    assert cusum.samples == board_of(folder, look).splits[0].entries[0].samples
    Draft202012Validator(shipped("board.json")).validate(json.loads(json.dumps(board.as_json(), allow_nan=False)))
    text = markdown(board)
    assert "### Score per family" in text
    assert "### Where failures come from" in text
    assert text.count("### Success per physical parameter") == len(cusum.adaptivity)


def test_a_score_with_bounds_is_no_more_certain_than_success() -> None:
    """Of no success in twelve nobody knows that there is none, in whatever figure it is told."""
    split = find_split("line-v1/iid[:12]")
    told: Any = {"steps": 1, "episode_return": 0.0, "success": False, "score": 0.0, "fault": "", "measures": {}}
    files = {"state_digest": "", "trajectory": "", "trajectory_digest": "", "seconds": 0.0}
    rows = [Episode(index, "", 0, 0, **told, **files) for index in range(12)]
    bounded, free = Figures(rows, split, 1, (0.0, 1.0)), Figures(rows, split, 1)
    unseen = 1.0 - 0.025 ** (1 / len({label.cluster for label in split.labels}))
    assert bounded.score() == bounded.success()
    assert (bounded.score().low, bounded.score().high) == pytest.approx((0.0, unseen), abs=1e-4)
    assert (bounded.gap().low, bounded.gap().high) == pytest.approx((1.0 - unseen, 1.0), abs=1e-4)
    assert (free.score(), free.gap()) == (Estimate(0.0, 0.0, 0.0), Estimate(1.0, 1.0, 1.0))
    (_, levels), (_, loose) = bounded.robustness(), free.robustness()
    points = [at for curve in (*levels, *bounded.adaptivity()) for at in curve.points]
    assert all(each.score == each.success for each in (*bounded.families(), *points))
    assert {at.score.high for curve in loose for at in curve.points} <= {0.0, None}
    clusters = [label.cluster for label in split.labels]
    pair = compare(("one", bounded), ("other", bounded), clusters)
    assert pair.difference == pair.success
    assert (pair.difference.low, pair.difference.high) == pytest.approx((-unseen, unseen), abs=1e-4)


@pytest.mark.parametrize(("split", "bounds"), [("term-v1/train[:2]", (0.0, 1.0)), ("line-v1/iid[:2]", None)])
def test_a_split_has_the_bounds_of_its_environment(split: str, bounds: Any) -> None:
    """A line may do worse than nothing and better than its oracle; a task is solved or not."""
    assert Contests()(split).bounds == bounds


def test_markdown_shows_what_a_stranger_has_written_as_text(lakes: Path, look: Look) -> None:
    """A policy's name must be neither a link, nor HTML, nor a further column."""
    edit(lakes / "walker" / "submission.json", policy__name="<script>|[me](http://x.example) `*_#")
    text = markdown(board_of(lakes, look))
    (line,) = [line for line in text.splitlines() if "script" in line and "reference" not in line and "1–3" in line]
    assert r"\<script\>\|\[me\]\(http://x.example\) \`\*\_\#" in line
    columns_of = {len(row.replace(r"\|", "").split("|")) for row in text.splitlines() if row.startswith("| ")}
    heads = next(row for row in text.splitlines() if row.startswith("| place"))
    assert len(heads.split("|")) in columns_of
    assert len(line.replace(r"\|", "").split("|")) == len(heads.split("|"))


@pytest.mark.parametrize("name", ["\x1b[31mred", "a\u202eb", "two\nlines", "", "x" * 101, "\x00"])
def test_names_that_would_do_something_to_a_terminal_are_refused(name: str, lakes: Path, look: Look) -> None:
    edit(lakes / "walker" / "submission.json", policy__name=name)
    looked = look(lakes / "walker", count=0)
    assert any("'policy.name'" in str(problem) for problem in looked.problems)
    assert not any("\x1b" in str(problem) or "\u202e" in str(problem) for problem in looked.problems)


def test_escaping_leaves_one_line() -> None:
    assert escaped("a | b\n\n# c") == r"a \| b \# c"


def test_a_terminal_shows_the_same_cells(lakes: Path, look: Look) -> None:
    (split,) = board_of(lakes, look).splits
    lines = columns(*standings(split)).splitlines()
    assert lines[0].split()[:3] == ["place", "policy", "score"]
    assert [line.split()[:2] for line in lines[1:]] == [
        ["1–3", "walker"],
        ["1–3", "walker"],
        ["1–3", "wanderer"],
        ["reference", "seer"],
    ]


def test_a_column_tells_who_is_not_understood_where_anybody_is_not(lakes: Path, look: Look) -> None:
    """A score of nothing looks alike whether a policy is weak or speaks another language."""
    (split,) = board_of(lakes, look).splits
    assert "malformed" not in standings(split)[0]
    first, *others = split.entries
    heads, cells = standings(replace(split, entries=(replace(first, malformed=0.25), *others)))
    assert [row[heads.index("malformed")] for row in cells] == ["25.0%", *["0.0%"] * len(others)]
    assert {len(row) for row in cells} == {len(heads)}


def test_a_fault_is_no_part_of_any_figure(evaluated: Any, copied: Any, look: Look) -> None:
    """One lost episode of a hundred is allowed; it counts neither for nor against."""
    folder = copied(evaluated(find_split("line-v1/iid[:20]"), "random"), "lost/random")
    lost = {"fault": "OSError: gone", "success": None, "score": None, "steps": 0, "episode_return": 0.0}
    gone = {"trajectory": "", "trajectory_digest": "", "state_digest": "", "measures": {}}
    edit_row(folder, 99, **lost, **gone)
    drop_last_line(folder)
    reseal_rows(folder)
    (split,) = board_of(folder.parent, look).splits
    (entry,) = split.entries
    assert (entry.episodes, entry.faults) == (100, 1)
    assert entry.score.value != 0.0


def drop_last_line(folder: Path) -> None:
    from forgery import read_lines, write_lines

    (path,) = (folder / "trajectories").iterdir()
    write_lines(path, read_lines(path)[:-1])
