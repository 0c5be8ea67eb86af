"""``rolf board`` as people type it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from forgery import edit, edit_row, load
from jsonschema import Draft202012Validator

from rolf.cli import main
from rolf.leaderboard.schemas import shipped


def board(*words: object) -> Result:
    return CliRunner().invoke(main, ["board", *map(str, words)], catch_exceptions=False)


@pytest.fixture
def file(split_files: dict[str, Path]) -> tuple[str, Path]:
    return "--split-file", split_files["still"]


def test_validate_tells_each_submission_of_a_folder(lakes: Path, file: Any) -> None:
    edit_row(lakes / "seer", 0, score=0.25)
    done = board("validate", lakes, *file, "--rerun", 2)
    assert done.exit_code == 1
    heads = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert [line.split(":")[0].split() for line in heads] == [
        ["REFUSED", "seer"],
        ["ok", "walker"],
        ["ok", "walker-again"],
        ["ok", "wanderer"],
    ]
    assert "         results.jsonl, line 1: 'score' is not what 00000-0.jsonl.gz gives: got 0.25" in done.stdout


def test_validate_says_all_of_it_to_machines(lakes: Path, file: Any) -> None:
    edit(lakes / "seer" / "lock.json", limits={})
    done = board("validate", lakes / "seer", lakes / "walker", *file, "--all", "--json")
    assert done.exit_code == 1
    seer, walker = map(json.loads, done.stdout.splitlines())
    assert (seer["valid"], walker["valid"], walker["played_again"], walker["episodes"]) == (False, True, 12, 12)
    assert {problem["file"] for problem in seer["problems"]} == {"submission.json", "lock.json"}
    (limits,) = [problem for problem in seer["problems"] if problem["file"] == "lock.json"]
    assert (limits["got"], limits["expected"]) == ("{}", "{'max_steps': 100}")


def test_validate_of_a_split_that_is_not_given_says_so(lakes: Path) -> None:
    done = board("validate", lakes / "walker")
    assert done.exit_code == 1
    assert done.stdout.count("'lake/still'") == 1
    assert "no split is named 'lake/still'" in done.stdout
    assert "a split of your own is known here when its file is given: `--split-file FILE`" in done.stdout


@pytest.mark.parametrize("words", [["validate"], ["validate", "nowhere"], ["show", "nowhere"], ["compare", "one"]])
def test_what_cannot_be_meant_is_usage(words: list[str]) -> None:
    assert board(*words).exit_code == 2


def test_a_folder_without_submissions_is_usage(tmp_path: Path) -> None:
    done = board("show", tmp_path)
    assert done.exit_code == 2
    assert "is no submission, and no folder of submissions" in done.stderr
    assert "holds any of lock.json, results.jsonl, submission.json" in done.stderr
    assert "`rolf eval --out`" in done.stderr


def test_validate_says_which_submissions_it_looks_at(lakes: Path, file: Any) -> None:
    """A folder that lies elsewhere, or deeper than is searched, would else be missed in silence."""
    done = board("validate", lakes, *file, "--rerun", "0")
    assert done.stderr.startswith(f"4 submissions in {lakes}: seer, walker, walker-again, wanderer")
    assert "submissions in" not in board("validate", lakes / "seer", *file, "--rerun", "0").stderr


def test_show_ranks(lakes: Path, file: Any) -> None:
    edit_row(lakes / "walker-again", 0, score=0.25)
    done = board("show", lakes, *file)
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "lake/still"
    del lines[1 : next(at for at, line in enumerate(lines) if line.startswith("Fewer"))]
    assert lines[1] == "Fewer than 10 clusters (2): intervals and places are not to be relied on."
    assert [line.split()[:2] for line in lines[4:7]] == [["1–2", "walker"], ["1–2", "wanderer"], ["reference", "seer"]]
    assert "refused walker-again: " in done.stderr


def test_show_fits_a_terminal_whatever_policies_are_called(lakes: Path, file: Any) -> None:
    edit(lakes / "walker" / "submission.json", policy__name="w" * 90)
    lines = board("show", lakes, *file).stdout.splitlines()
    assert max(map(len, lines)) == 100
    assert "w…  1.000 [" in "\n".join(lines)
    wide = board("show", lakes, *file, "--wide").stdout
    assert "w" * 90 in wide
    heads = next(line for line in wide.splitlines() if line.startswith("place"))
    assert all(head in heads for head in ("IQM", "gap", "pass^3", "detectable", "episodes", "faults", "verified"))


def test_where_all_is_refused_the_exit_code_tells(lakes: Path, tmp_path: Path) -> None:
    out = tmp_path / "board.md"
    for words in (["show", lakes], ["show", lakes, "--json"], ["render", lakes, "--markdown", out]):
        done = board(*words)
        assert done.exit_code == 1
        assert done.stderr.count("no split is named 'lake/still'") == 4
    assert "## Refused" in out.read_text()
    done = board("show", lakes, "--split", "lake/still")
    assert done.exit_code == 2
    assert done.stderr.count("refused ") == 4


def test_show_of_a_split_that_nobody_handed_in_to(lakes: Path, file: Any) -> None:
    done = board("show", lakes, *file, "--split", "line-v1/iid")
    assert done.exit_code == 2
    assert "no valid submission" in done.stderr


def test_show_for_machines_and_as_markdown(lakes: Path, file: Any) -> None:
    plain = json.loads(board("show", lakes, *file, "--json").stdout)
    Draft202012Validator(shipped("board.json")).validate(plain)
    assert plain["format"] == "rolf-board/1"
    text = board("show", lakes, *file, "--markdown").stdout
    assert text.startswith("# Leaderboard\n\n## lake/still\n")
    assert board("show", lakes, *file, "--markdown", "--json").exit_code == 2


def test_compare_on_all_and_family_by_family(lakes: Path, file: Any) -> None:
    done = board("compare", lakes / "walker", lakes / "wanderer", *file)
    lines = done.stdout.splitlines()
    assert [line.split()[:3] for line in lines[1:4]] == [
        ["all", "walker", "wanderer"],
        ["family", "0", "walker"],
        ["family", "1", "walker"],
    ]
    few = "Fewer than 10 clusters (2): intervals and places are not to be relied on."
    assert lines[4:] == [f"{part}: {few}" for part in ("all", "family 0", "family 1")]
    plain = json.loads(board("compare", lakes / "walker", lakes / "wanderer", *file, "--json").stdout)
    assert list(plain) == ["all", "family 0", "family 1"]
    assert plain["all"]["difference"]["value"] > 0


def test_compare_refuses_different_splits_and_what_is_not_valid(
    lakes: Path, file: Any, split_files: Any, steps: Path
) -> None:
    done = board("compare", lakes / "walker", steps, *file, "--split-file", split_files["slippery"])
    assert done.exit_code == 2
    assert "only submissions to the same split can be compared" in done.stderr
    edit_row(lakes / "walker", 0, score=0.25)
    done = board("compare", lakes / "walker", lakes / "wanderer", *file)
    assert done.exit_code == 2
    assert "'score' is not what" in done.stderr


def test_verify_writes_the_badge_that_show_shows(lakes: Path, file: Any) -> None:
    done = board("verify", lakes / "walker", "--board", lakes, "--by", "Ada", *file)
    assert done.stdout.startswith("verified by Ada: 12 episodes played again; ")
    assert "Ada (replayed)" in board("show", lakes, *file, "--wide").stdout
    words = "--policy", "lake_policies:Walker", "--variants", 2
    done = board("verify", lakes / "walker", "--board", lakes, "--by", "Bea", *words, *file)
    assert "12 episodes played again, 2 by the policy itself" in done.stdout
    Draft202012Validator(shipped("verified.json")).validate(load(lakes / "verified.json"))
    assert "Bea (evaluated)" in board("show", lakes, *file, "--wide").stdout


def test_verify_refuses_what_is_not_valid_and_writes_nothing(lakes: Path, file: Any) -> None:
    edit_row(lakes / "walker", 0, score=0.25)
    done = board("verify", lakes / "walker", "--board", lakes, "--by", "Ada", *file)
    assert done.exit_code == 2
    assert "no badge" in done.stderr
    assert not (lakes / "verified.json").exists()


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        ("lake_policies:Wanderer", "declares deterministic = False, its submission True"),
        ("nothing:Here", "there is no module 'nothing'"),
        ("walker", "no policy is named 'walker'"),
    ],
)
def test_verify_refuses_what_the_policy_does_not_do(policy: str, reason: str, lakes: Path, file: Any) -> None:
    done = board("verify", lakes / "walker", "--board", lakes, "--by", "Ada", "--policy", policy, *file)
    assert done.exit_code == 2
    assert reason in done.stderr
    assert not (lakes / "verified.json").exists()


def test_render_writes_each_form(lakes: Path, file: Any, tmp_path: Path) -> None:
    out = {name: tmp_path / name for name in ("board.html", "board.md", "board.json")}
    words = ["--html", out["board.html"], "--markdown", out["board.md"], "--json", out["board.json"]]
    done = board("render", lakes, *file, *words)
    assert done.exit_code == 0
    assert out["board.md"].read_text().startswith("# Leaderboard")
    assert load(out["board.json"])["splits"][0]["split"] == "lake/still"
    assert "lake/still" in out["board.html"].read_text()
    assert "Fewer than 10 clusters (2)" in out["board.html"].read_text()
    assert board("render", lakes, *file).exit_code == 2


def test_a_submission_by_itself_is_a_board_of_one(lakes: Path, file: Any) -> None:
    done = board("show", lakes / "wanderer", *file)
    assert done.stdout.splitlines()[-2].split()[:2] == ["1", "wanderer"]
