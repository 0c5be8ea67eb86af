"""Submissions to the terminal's splits: strangers' commands run in the sandbox of the split, and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from forgery import edit_line, edit_row, read_lines, read_rows, reseal, reseal_rows, write_lines

from rolf.evaluation.recording import read
from rolf.leaderboard.validation import Validation
from rolf.splitting import find_split

Look = Callable[..., Validation]
pytestmark = pytest.mark.slow


@pytest.fixture
def terminal(evaluated: Any, copied: Any) -> Path:
    """Two tasks, solved by the oracle, an attempt each."""
    return Path(copied(evaluated(find_split("term-v1/unseen-world[:2]"), "oracle", 1)))


def said(looked: Validation) -> str:
    assert not looked.valid
    return "\n".join(map(str, looked.problems))


def test_an_honest_submission_is_taken(terminal: Path, look: Look) -> None:
    looked = look(terminal, count=None)
    assert [str(problem) for problem in looked.problems] == []
    assert looked.again == len(looked.rows) == 2


def test_an_edited_output(terminal: Path, look: Look) -> None:
    trajectory = read_rows(terminal)[0]["trajectory"]
    lines = read_lines(terminal / "trajectories" / trajectory)
    seen = lines[2]["observation"] | {"stdout": "all is well\n"}
    edit_line(terminal, trajectory, 2, observation=seen)
    assert f"'trajectory_digest' is not what {trajectory} gives" in said(look(terminal))
    reseal(terminal)
    text = said(look(terminal, count=None))
    assert "played again, variant 0, attempt 0: step 0: observation.stdout differs" in text
    assert "all is well" in text


def test_a_success_that_was_none(terminal: Path, look: Look) -> None:
    """The way to a task's goal is cut out; the last step still says that it was reached."""
    trajectory = read_rows(terminal)[0]["trajectory"]
    path = terminal / "trajectories" / trajectory
    lines = read_lines(path)
    assert lines[-2]["info"]["success"] is True
    write_lines(path, [*lines[:2], *lines[-2:]])
    reseal(terminal)
    assert "played again, variant 0, attempt 0: step 0: " in said(look(terminal, count=None))


def test_a_grade_beyond_all_that_there_is_to_reach(terminal: Path, look: Look) -> None:
    """A folder's verifier may grant anything, but a split's tasks are solved or not: nothing needs playing again."""
    trajectory = read_rows(terminal)[0]["trajectory"]
    told = read_lines(terminal / "trajectories" / trajectory)[-2]["info"]
    edit_line(terminal, trajectory, -2, info=told | {"verifier": {"reward": 7.0}})
    text = said(look(terminal, count=0))
    assert "its last info tells a score that cannot be: got 7.0, expected one from 0 to 1" in text


@pytest.mark.parametrize("sealed", [False, True])
def test_commands_of_a_stranger_run_in_the_sandbox_of_the_split(
    sealed: bool, terminal: Path, look: Look, tmp_path: Path
) -> None:
    """A header that asks for the backend without a sandbox, and an action that leaves a mark where it ran."""
    mark = tmp_path / "was-here"
    tmp_path.chmod(0o777)
    tmp_path.parent.chmod(0o777)
    command = f"touch {mark}; touch /var/tmp/{mark.parent.name}"
    for number, row in enumerate(read_rows(terminal)):
        path = terminal / "trajectories" / row["trajectory"]
        lines = read_lines(path)
        lines[0]["kwargs"] |= {"backend": "local-unsafe"}
        plan = json.loads(lines[2]["action"][0]) | {"command": command}
        lines[2]["action"] = [json.dumps(plan)]
        write_lines(path, lines)
        edit_row(terminal, number, trajectory_digest=read(path).digest)
    reseal_rows(terminal)
    if sealed:  # as the split has it, so that the commands do run
        for row in read_rows(terminal):
            path = terminal / "trajectories" / row["trajectory"]
            lines = read_lines(path)
            del lines[0]["kwargs"]["backend"]
            write_lines(path, lines)
        reseal(terminal)
    looked = look(terminal, count=None)
    text = said(looked)
    assert looked.again == 0
    assert ("local-unsafe" in text) is not sealed
    assert ("played again" in text) is sealed
    assert not mark.exists()
    assert not Path(f"/var/tmp/{mark.parent.name}").exists()


def test_an_honest_submission_may_look_at_the_clock(evaluated: Any, look: Look) -> None:
    """Names drawn at random and the times of files are others when an episode is played again."""
    split = find_split("term-v1/unseen-world[:1]")
    looked = look(evaluated(split, "clock_policies:Looker", 1), count=None)
    assert [str(problem) for problem in looked.problems] == []
    assert looked.again == 1
    (note,) = looked.notes
    assert "step 0: observation.stdout differs" in note


def test_a_policy_that_looks_at_the_clock_cannot_make_up_what_else_it_saw(
    evaluated: Any, copied: Any, look: Look
) -> None:
    split = find_split("term-v1/unseen-world[:1]")
    folder = copied(evaluated(split, "clock_policies:Looker", 1))
    trajectory = read_rows(folder)[0]["trajectory"]
    lines = read_lines(folder / "trajectories" / trajectory)
    seen = lines[3]["observation"]
    assert seen["stdout"] == "always the same\n"
    edit_line(folder, trajectory, 3, observation=seen | {"stdout": "all is well\n"})
    reseal(folder)
    assert "played again, variant 0, attempt 0: step 1: observation.stdout differs" in said(look(folder, count=None))
