"""Forged submissions: each way to a better place is refused with its reason, on submissions really evaluated.

Most are tried twice: by somebody who edits a file, and by somebody who then computes every digest anew (`reseal`).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from forgery import edit, edit_line, edit_row, load, read_lines, read_rows, reseal, reseal_rows, write_lines, write_rows

from rolf.leaderboard.validation import Validation
from rolf.splitting import find_split

Look = Callable[..., Validation]


def said(looked: Validation) -> str:
    assert not looked.valid
    return "\n".join(map(str, looked.problems))


@pytest.mark.parametrize("kind", ["steps", "blocks"])
def test_an_honest_submission_is_taken(kind: str, look: Look, request: pytest.FixtureRequest) -> None:
    looked = look(request.getfixturevalue(kind), count=None)
    assert [str(problem) for problem in looked.problems] == []
    assert looked.again == len(looked.rows) >= 10


@pytest.mark.parametrize("kind", ["steps", "blocks"])
def test_resealing_alone_changes_nothing(kind: str, look: Look, request: pytest.FixtureRequest) -> None:
    """Else the tests below would refuse the forger's clumsiness in place of the forgery."""
    folder = request.getfixturevalue(kind)
    reseal(folder)
    assert look(folder).valid


@pytest.mark.parametrize("kind", ["steps", "blocks"])
def test_an_edited_score(kind: str, look: Look, request: pytest.FixtureRequest) -> None:
    folder = request.getfixturevalue(kind)
    edit_row(folder, 3, score=0.987654)
    text = said(look(folder))
    assert "results.jsonl, line 4: 'score' is not what" in text
    assert "got 0.987654, expected" in text
    assert "'results_sha256' is not that of results.jsonl" in text
    assert "'summary.score' is not what results.jsonl gives" in text


@pytest.mark.parametrize("kind", ["steps", "blocks"])
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("score", 0.987654),
        ("episode_return", 99.5),
        ("steps", 1_000),
        ("malformed", 2),
        ("success", True),
        ("measures", {"output": 1e6}),
        ("state_digest", "ab" * 32),
        ("trajectory_digest", "cd" * 32),
        ("seed", 12),
        ("variant", "an easier one"),
    ],
)
def test_an_edited_number_in_a_row_whose_digests_were_computed_anew(
    kind: str, field: str, value: Any, look: Look, request: pytest.FixtureRequest
) -> None:
    folder = request.getfixturevalue(kind)
    edit_row(folder, 3, **{field: value})
    reseal_rows(folder)
    looked = look(folder)
    text = said(looked)
    assert "results.jsonl, line 4" in text
    assert repr(value)[:40] in text
    assert "summary" not in text
    assert "sha256" not in text


def test_an_edited_summary(steps: Path, look: Look) -> None:
    edit(steps / "submission.json", summary__success=1.0)
    assert "submission.json: 'summary.success' is not what results.jsonl gives: got 1.0, expected 0.0" in said(
        look(steps)
    )


@pytest.mark.parametrize(
    ("number", "values"),
    [
        (-2, {"reward": 1.0}),
        (2, {"action": [1]}),
        (2, {"observation": 14}),
        (-2, {"info": {"prob": 1.0, "success": True}}),
        (2, {"info": {"prob": 0.5}}),
        (1, {"observation": 14}),
    ],
    ids=["reward", "action", "output", "final info", "info", "beginning"],
)
def test_an_edited_step(number: int, values: dict[str, Any], steps: Path, look: Look) -> None:
    """By its digest at once; with all digests computed anew, by playing it again."""
    trajectory = read_rows(steps)[5]["trajectory"]
    edit_line(steps, trajectory, number, **values)
    assert f"'trajectory_digest' is not what {trajectory} gives" in said(look(steps))
    reseal(steps)
    text = said(look(steps, count=None))
    assert f"trajectories/{trajectory}, line" in text
    assert "played again, variant 1, attempt 2: step" in text
    assert "recorded" in text


@pytest.mark.parametrize("field", ["actions", "rewards", "info", "state_digest"])
def test_an_edited_episode_of_actions(field: str, blocks: Path, look: Look) -> None:
    (path,) = (blocks / "trajectories").iterdir()
    lines = read_lines(path)
    other = {
        "actions": [0] * len(lines[7]["actions"]),
        "rewards": [*lines[7]["rewards"][:-1], 5.0],
        "info": lines[7]["info"] | {"output": 10_000},
        "state_digest": "ab" * 32,
    }
    lines[7][field] = other[field]
    write_lines(path, lines)
    assert "'trajectory_digest' is not what" in said(look(blocks))
    reseal(blocks)
    text = said(look(blocks, count=None))
    assert "played again, variant 1, attempt 2: " in text
    assert "line 8" in text


def test_another_digest_of_the_split(steps: Path, look: Look) -> None:
    edit(steps / "submission.json", split_digest="0" * 64)
    text = said(look(steps))
    assert "submission.json: 'split_digest' is not that of lake/slippery: got '000000" in text
    assert "evaluate with the version that is installed here" in text


def test_another_split_than_was_played(steps: Path, look: Look) -> None:
    """Whoever was played on an easier split hands it in to the harder one, digests and all."""
    harder = find_split("line-v1/iid[:4]")
    edit(steps / "submission.json", split=harder.name, split_digest=harder.digest)
    edit(steps / "lock.json", split_digest=harder.digest)
    reseal_rows(steps)
    text = said(look(steps))
    assert "'env_id' is not what the split says for variant 0, attempt 0: got 'gymnasium:FrozenLake-v1'" in text
    assert "'limits' is not that of" in text


def test_a_split_that_nobody_knows(steps: Path, look: Look) -> None:
    edit(steps / "submission.json", split="line-v1/idd")
    assert "no split is named 'line-v1/idd'; did you mean 'line-v1/iid'?" in said(look(steps))


def test_a_split_file_that_a_submission_names_is_not_read(
    steps: Path, look: Look, split_files: dict[str, Path]
) -> None:
    """The name of a split is a stranger's text: it must not become a path."""
    edit(steps / "submission.json", split=str(split_files["slippery"]))
    assert "no split is named like a file" in said(look(steps))


@pytest.mark.parametrize("attempts", [1, 2])
def test_fewer_attempts(attempts: int, steps: Path, look: Look) -> None:
    """The best of several is no policy: all attempts are handed in."""
    write_rows(steps, [row for row in read_rows(steps) if row["attempt"] < attempts])
    for path in (steps / "trajectories").iterdir():
        if int(path.name[6]) >= attempts:
            path.unlink()
    edit(steps / "submission.json", attempts=attempts)
    edit(steps / "lock.json", attempts=attempts)
    reseal_rows(steps)
    text = said(look(steps))
    assert f"submission.json: 'attempts' is not that of lake/slippery: got {attempts}, expected 3" in text
    assert "a policy that is declared deterministic may hand in 1" in text
    assert "evaluate without `--attempts` into a new folder" in text
    assert "rows are missing" not in text


def test_fewer_attempts_that_the_lock_denies(steps: Path, look: Look) -> None:
    """Whoever writes a smaller number into one file is asked for all rows as before."""
    edit(steps / "submission.json", attempts=1)
    write_rows(steps, [row for row in read_rows(steps) if row["attempt"] < 1])
    assert "rows are missing: variant 0 attempt 1" in said(look(steps))


def test_a_missing_row(steps: Path, look: Look) -> None:
    rows = read_rows(steps)
    write_rows(steps, rows[:4] + rows[5:])
    reseal_rows(steps)
    text = said(look(steps))
    assert "rows are missing: variant 1 attempt 1: got 11, expected 12 rows" in text
    assert f"trajectories/{rows[4]['trajectory']}: no row names it" in text


def test_a_row_twice_in_place_of_a_bad_one(steps: Path, look: Look) -> None:
    rows = read_rows(steps)
    rows[4] = rows[3]
    write_rows(steps, rows)
    reseal_rows(steps)
    text = said(look(steps))
    assert "results.jsonl, line 5: variant 1, attempt 0 is there already in line 4" in text
    assert "rows are missing: variant 1 attempt 1" in text


def test_changed_limits(steps: Path, look: Look) -> None:
    edit(steps / "lock.json", limits={"max_steps": 10_000})
    reseal_rows(steps)
    text = said(look(steps))
    assert (
        "lock.json: 'limits' is not that of lake/slippery: got {'max_steps': 10000}, expected {'max_steps': 100}"
        in text
    )
    assert "other limits are another benchmark" in text


def test_limits_that_were_changed_in_the_environment(steps: Path, look: Look) -> None:
    """The lock says what it should, and the episode was longer."""
    trajectory = read_rows(steps)[2]["trajectory"]
    edit_line(steps, trajectory, 0, max_episode_steps=10_000)
    reseal(steps)
    assert "'max_episode_steps' is not what the split says for variant 0, attempt 2: got 10000, expected 100" in said(
        look(steps)
    )


def test_trajectories_swapped_between_rows(steps: Path, look: Look) -> None:
    rows = read_rows(steps)
    for field in ("trajectory", "trajectory_digest"):
        rows[0][field], rows[4][field] = rows[4][field], rows[0][field]
    write_rows(steps, rows)
    reseal(steps)
    text = said(look(steps))
    assert "'seed' is not what the split says for variant 0, attempt 0" in text
    assert "'seed' is not what the split says for variant 1, attempt 1" in text


@pytest.mark.parametrize("kind", ["steps", "blocks"])
def test_a_good_episode_handed_in_twice(kind: str, look: Look, request: pytest.FixtureRequest) -> None:
    """The same trajectory for two attempts."""
    folder = request.getfixturevalue(kind)
    rows = read_rows(folder)
    rows[1] |= {name: rows[0][name] for name in ("trajectory", "trajectory_digest")}
    write_rows(folder, rows)
    reseal(folder)
    text = said(look(folder))
    assert "results.jsonl, line 2: 'trajectory' is that of line 1 too" in text
    assert "results.jsonl, line 2: 'trajectory_digest' is that of line 1 too" in text


def test_a_copy_of_a_good_episode_with_the_seed_of_another_attempt(steps: Path, look: Look) -> None:
    """Copies are looked for before episodes are drawn: one random episode is enough to find this one."""
    rows = read_rows(steps)
    best = max(range(len(rows)), key=lambda number: rows[number]["episode_return"])
    other = next(number for number, row in enumerate(rows) if row["index"] == rows[best]["index"] and number != best)
    lines = read_lines(steps / "trajectories" / rows[best]["trajectory"])
    lines[1]["seed"] = rows[other]["seed"]
    write_lines(steps / "trajectories" / rows[other]["trajectory"], lines)
    reseal(steps)
    assert f"played again, variant {rows[other]['index']}, attempt {rows[other]['attempt']}" in said(
        look(steps, count=1, seed=0)
    )


def test_a_copied_episode_of_actions(blocks: Path, look: Look) -> None:
    (path,) = (blocks / "trajectories").iterdir()
    lines = read_lines(path)
    lines[1] = lines[0] | {"seed": lines[1]["seed"]}
    write_lines(path, lines)
    reseal(blocks)
    assert "played again, variant 0, attempt 1" in said(look(blocks, count=1, seed=0))


def test_a_better_attempt_under_another_seed(steps: Path, look: Look) -> None:
    """An attempt that was played honestly, but is none of those that the split names."""
    trajectory = read_rows(steps)[1]["trajectory"]
    edit_line(steps, trajectory, 1, seed=7)
    edit_row(steps, 1, seed=7)
    reseal(steps)
    text = said(look(steps))
    assert "results.jsonl, line 2: attempt 1 at this variant has another seed: got 7, expected" in text
    assert "'seed' is not what the split says for variant 0, attempt 1: got 7" in text


def test_edited_packages(steps: Path, look: Look) -> None:
    edit(steps / "lock.json", packages__gymnasium="0.0.1")
    text = said(look(steps))
    assert "'lock_sha256' is not that of lock.json" in text
    assert "lock.json was changed after the evaluation" in text
    reseal_rows(steps)
    text = said(look(steps))
    assert "lock_sha256" not in text
    assert "it was recorded with another 'gymnasium' than lock.json says" in text
    assert "expected '0.0.1'" in text


def test_a_policy_that_says_it_is_deterministic_and_is_not(
    evaluated: Any, copied: Any, look: Look, contests: Any
) -> None:
    """Where it does not slip every attempt begins alike, so that it can be seen from the trajectories alone."""
    folder = copied(evaluated(contests("lake/still").split, "lake_policies:Pretender"))
    assert load(folder / "submission.json")["policy"]["deterministic"] is True
    text = said(look(folder))
    assert "the policy is declared deterministic, and acted otherwise in" in text
    assert "after the same history" in text


def test_a_deterministic_policy_may_hand_in_one_attempt(evaluated: Any, copied: Any, look: Look, contests: Any) -> None:
    folder = copied(evaluated(contests("lake/still").split, "lake_policies:Walker", 1))
    looked = look(folder, count=None)
    assert [str(problem) for problem in looked.problems] == []
    assert (len(looked.rows), looked.again) == (4, 4)


def test_what_is_refused_already_is_not_played_again(steps: Path, look: Look) -> None:
    assert look(steps, count=2).again >= 2
    edit(steps / "submission.json", attempts=2)
    looked = look(steps, count=None)
    assert (looked.valid, looked.again) == (False, 0)


def test_a_policy_that_is_not_deterministic_may_not(evaluated: Any, copied: Any, look: Look, contests: Any) -> None:
    folder = copied(evaluated(contests("lake/still").split, "lake_policies:Wanderer", 1))
    (problem,) = look(folder).problems
    assert str(problem) == (
        "submission.json: 'attempts' is not that of lake/still: got 1, expected 3; a policy that is declared "
        "deterministic may hand in 1 where all attempts meet the same world, every other one hands in all: evaluate "
        "without `--attempts` into a new folder"
    )


def test_one_attempt_tells_nothing_of_other_worlds(evaluated: Any, copied: Any, look: Look, contests: Any) -> None:
    """On slippery ice an attempt is an episode of its own: the luckiest of them is no measure, whoever walks."""
    folder = copied(evaluated(contests("lake/slippery").split, "lake_policies:Walker", 1))
    (problem,) = look(folder).problems
    assert str(problem).startswith("submission.json: 'attempts' is not that of lake/slippery: got 1, expected 3; ")


def test_a_reference_that_calls_itself_a_contestant(evaluated: Any, copied: Any, look: Look) -> None:
    """The oracle is told the truth; without the word for it, it would lead every table."""
    folder = copied(evaluated(find_split("line-v1/iid[:2]"), "oracle"))
    edit(folder / "submission.json", policy__privileged=False)
    text = said(look(folder))
    assert "the policy 'oracle' comes with the environment, and is declared otherwise: 'privileged': got False" in text
    edit(folder / "submission.json", policy__spec="my_agent:Agent")
    assert "'oracle' is the name of a policy that comes with the environment" in said(look(folder))


def test_an_attribution_that_nobody_asked_for(steps: Path, look: Look) -> None:
    edit_row(steps, 0, attribution={"bad luck": 1.0})
    reseal_rows(steps)
    text = said(look(steps))
    assert "variant 0, attempt 0 has an 'attribution': got {'bad luck': 1.0}, expected none: lock.json says" in text


def test_too_many_faults(steps: Path, look: Look) -> None:
    """Bad episodes that are called faults of the machine."""
    lost = {"fault": "OSError: no space", "success": None, "score": None, "steps": 0, "episode_return": 0.0}
    gone = {"trajectory": "", "trajectory_digest": "", "state_digest": "", "measures": {}}
    trajectory = read_rows(steps)[0]["trajectory"]
    (steps / "trajectories" / trajectory).unlink()
    edit_row(steps, 0, **lost, **gone)
    reseal_rows(steps)
    text = said(look(steps))
    assert "results.jsonl: the machine failed in too many episodes: got 1, expected at most 2% of 12" in text
    assert "rolf doctor" in text


def test_a_whole_episode_that_is_called_a_fault(steps: Path, look: Look) -> None:
    edit_row(steps, 0, fault="the machine was slow", success=None, score=None)
    reseal_rows(steps)
    assert (
        "results.jsonl, line 1: 'fault' is not what 00000-0.jsonl.gz gives: got 'the machine was slow', expected ''"
        in (said(look(steps)))
    )


def test_an_episode_that_was_broken_off_before_it_went_wrong(steps: Path, look: Look) -> None:
    path = steps / "trajectories" / read_rows(steps)[0]["trajectory"]
    lines = read_lines(path)
    write_lines(path, [*lines[:3], lines[-1]])
    reseal(steps)
    assert "trajectories/00000-0.jsonl.gz: the episode has not ended; play it to its end" in said(look(steps))


def test_an_episode_that_goes_on_after_its_end(steps: Path, look: Look) -> None:
    path = steps / "trajectories" / read_rows(steps)[0]["trajectory"]
    lines = read_lines(path)
    write_lines(path, [*lines[:-1], lines[-2], lines[-1]])
    reseal(steps)
    assert "it goes on after its end" in said(look(steps))


def test_a_header_that_calls_the_reward_volatile(steps: Path, look: Look) -> None:
    """What is volatile is not compared: the environment says what is, not the submission."""
    trajectory = read_rows(steps)[0]["trajectory"]
    edit_line(steps, trajectory, 0, volatile=["reward", "info"])
    edit_line(steps, trajectory, -2, reward=50.0)
    reseal(steps)
    text = said(look(steps))
    assert "'volatile' is not what the split says" in text
    assert "got ['reward', 'info'], expected []" in text


@pytest.mark.parametrize("kind", ["steps", "blocks"])
def test_nothing_that_a_trajectory_names_is_run(
    kind: str, look: Look, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """A wrapper's entry point and an environment's id are code: the split's are run, never a stranger's."""
    folder = request.getfixturevalue(kind)
    mark = tmp_path / "was-here"
    evil = {"name": "Evil", "entry_point": "os:system", "kwargs": {"command": f"touch {mark}"}}
    for path in (folder / "trajectories").iterdir():
        lines = read_lines(path)
        for line in lines if kind == "blocks" else lines[:1]:
            line |= {"wrappers": [evil], "env_id": "antigravity:Evil-v0"}
            line["kwargs"] = {**line["kwargs"], "backend": "local-unsafe"}
        write_lines(path, lines)
    for number, row in enumerate(read_rows(folder)):
        edit_row(folder, number, trajectory_digest=digest_of(folder, row["trajectory"]))
    reseal_rows(folder)
    looked = look(folder, count=None)
    text = said(looked)
    assert "'wrappers' is not what the split says" in text
    assert "'env_id' is not what the split says for variant 0, attempt 0: got 'antigravity:Evil-v0'" in text
    assert "'kwargs' is not what the split says" in text
    assert "local-unsafe" in text
    assert looked.again == 0
    assert not mark.exists()


def digest_of(folder: Path, trajectory: str) -> str:
    from rolf.evaluation.recording import read

    return read(folder / "trajectories" / trajectory).digest


def test_files_that_no_row_names(steps: Path, look: Look) -> None:
    (steps / "trajectories" / "extra.jsonl.gz").write_bytes(b"")
    assert "trajectories/extra.jsonl.gz: no row names it; remove it" in said(look(steps))


def test_a_line_that_no_row_names(blocks: Path, look: Look) -> None:
    (path,) = (blocks / "trajectories").iterdir()
    lines = read_lines(path)
    write_lines(path, [*lines, lines[0]])
    assert f"no row names line {len(lines) + 1}" in said(look(blocks))


@pytest.mark.parametrize(
    "name", ["../../../etc/passwd", "/etc/passwd", "x/../../y.jsonl.gz", "00000-0.jsonl.gz#0", "a\n.jsonl.gz", ""]
)
def test_a_trajectory_outside_of_the_submission(name: str, steps: Path, look: Look) -> None:
    edit_row(steps, 0, trajectory=name)
    reseal_rows(steps)
    assert "'trajectory' names no file in trajectories/" in said(look(steps))


def test_unknown_keys_and_wrong_types_are_all_named(steps: Path, look: Look) -> None:
    edit(
        steps / "submission.json",
        verified=True,
        policy__verified="yes",
        attempts="3",
        policy__url="javascript:alert(1)",
    )
    edit_row(steps, 0, bonus=1, steps=1.5)
    text = said(look(steps))
    for key in (
        "the key 'verified' is not known",
        "the key 'policy.verified' is not known",
        "'attempts': Input should",
    ):
        assert f"submission.json: {key}" in text
    assert "'policy.url': String should match pattern" in text


def test_a_row_with_unknown_keys(steps: Path, look: Look) -> None:
    edit_row(steps, 0, bonus=1, steps=1.5)
    text = said(look(steps))
    assert "results.jsonl, line 1: the key 'bonus' is not known" in text
    assert "results.jsonl, line 1: 'steps': Input should be a valid integer" in text


@pytest.mark.parametrize("value", ["NaN", "Infinity", "1e999"])
def test_numbers_that_are_none(value: str, steps: Path, look: Look) -> None:
    text = (steps / "results.jsonl").read_text()
    first, rest = text.split("\n", 1)
    row = json.loads(first)
    row["score"] = "HERE"
    (steps / "results.jsonl").write_text(json.dumps(row).replace('"HERE"', value) + "\n" + rest)
    assert "results.jsonl, line 1:" in said(look(steps))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "1", None, True, [1.0]])
def test_rewards_that_are_no_numbers(value: Any, steps: Path, look: Look) -> None:
    trajectory = read_rows(steps)[0]["trajectory"]
    edit_line(steps, trajectory, 2, reward=value)
    text = said(look(steps))
    assert f"trajectories/{trajectory}: " in text
    assert "reward" in text


@pytest.mark.parametrize("info", [{"failure_kind": {"a": []}}, {"success": [1]}, {"success": "yes"}, {}])
def test_an_info_of_any_shape(info: Any, steps: Path, look: Look) -> None:
    """Whatever stands in it, looking at it ends in a report."""
    edit_line(steps, read_rows(steps)[0]["trajectory"], -2, info=info)
    assert "'trajectory_digest' is not what" in said(look(steps))


@pytest.mark.parametrize("info", [{}, {"output": "many"}, {"output": []}, {"success": {}}, {"variant_id": 7}])
def test_an_info_of_any_shape_of_a_line(info: Any, blocks: Path, look: Look) -> None:
    (path,) = (blocks / "trajectories").iterdir()
    lines = read_lines(path)
    lines[0]["info"] = info
    write_lines(path, lines)
    assert "'trajectory_digest' is not what" in said(look(blocks)) or "cannot be measured" in said(look(blocks))


@pytest.mark.parametrize("action", ["go", None, [], [99], [[0, 1]], [{"a": 1}], ["up"], [1e400], [[]]])
def test_an_action_of_any_kind(action: Any, steps: Path, look: Look) -> None:
    """A stranger's action reaches the environment, which may raise whatever it likes."""
    edit_line(steps, read_rows(steps)[0]["trajectory"], 2, action=action)
    reseal(steps)
    text = said(look(steps, count=None))
    assert "trajectories/00000-0.jsonl.gz" in text


def test_everything_that_is_wrong_is_told_at_once(steps: Path, look: Look) -> None:
    edit_row(steps, 0, score=1.0)
    edit_row(steps, 5, steps=1)
    edit(steps / "lock.json", limits={})
    (steps / "notes.txt").write_text("")
    text = said(look(steps))
    for part in ("line 1: 'score'", "line 6: 'steps'", "lock.json: 'limits'", "notes.txt: this file", "results_sha256"):
        assert part in text


def test_which_episodes_are_played_again_is_drawn_anew_each_time(steps: Path, look: Look) -> None:
    """Of twelve episodes one is forged, five are drawn: some looks find it and some do not, unless a seed is given."""
    edit_line(steps, read_rows(steps)[5]["trajectory"], 2, info={"prob": 0.123})
    reseal(steps)
    fixed = {look(steps, count=5, seed=1).valid for _ in range(2)}
    assert len(fixed) == 1
    assert {look(steps, count=5).valid for _ in range(40)} == {True, False}


def test_a_submission_is_bound_by_its_digest_in_every_byte(steps: Path, look: Look) -> None:
    before = look(steps).digest
    assert before == look(steps).digest
    text = (steps / "results.jsonl").read_text()
    (steps / "results.jsonl").write_text(text.replace('"seconds": ', '"seconds":  ', 1))
    assert look(steps).digest != before


def test_a_part_of_a_split_of_ones_own(evaluated: Any, look: Look, contests: Any) -> None:
    looked = look(evaluated(contests("lake/slippery[:2]").split, "lake_policies:Wanderer", None))
    assert looked.valid
    assert looked.contest is not None
    assert looked.contest.split.name == "lake/slippery[:2]"
