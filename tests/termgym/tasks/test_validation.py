"""Every task can be solved as it says, and validation notices one that cannot."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

import termgym.tasks
from termgym.checks import FileExists, OutputContains
from termgym.episode import Episode
from termgym.errors import UnknownTask
from termgym.tasks import HOME, FileSpec, Task, causes, families, make_task
from termgym.tasks.family import act
from termgym.tasks.validation import validate, validate_all

EVERY = [(family, cause) for family in families() for cause in causes(family)]
SOUND = Task(
    id="sound",
    instruction="Make ~/made.",
    goal=(FileExists(path=f"{HOME}/made"),),
    symptom=(act("cat made", OutputContains(pattern="No such file", stream="stderr"), exits=1),),
    oracle=(act("touch made"),),
)


@pytest.mark.parametrize(("family", "cause"), EVERY)
def test_every_cause_is_valid(episode: Episode, family: str, cause: str) -> None:
    """Symptom, no-op, oracle, and the same again in a world built anew: the promise under every score."""
    assert validate(make_task(f"{family}/{cause}", 1), episode).problems == ()


@pytest.mark.nightly
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("family", "cause"), EVERY)
def test_every_cause_is_valid_in_many_worlds(episode: Episode, family: str, cause: str) -> None:
    """Names, numbers and the details of the symptom differ from world to world."""
    problems = {seed: validate(make_task(f"{family}/{cause}", seed), episode).problems for seed in range(100, 120)}
    assert not any(problems.values()), problems


def test_a_sound_task_has_no_problem(episode: Episode) -> None:
    """The control of the tests below: what they break is all that is wrong."""
    verdict = validate(SOUND, episode)
    assert (verdict.task, verdict.problems, verdict.valid) == ("sound", (), True)
    assert 0 < verdict.seconds < 60


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"goal": ()}, "the task has no goal"),
        ({"oracle": ()}, "the task has no oracle"),
        ({"setup": "touch made"}, "doing nothing succeeds"),
        ({"setup": "touch made"}, "the symptom, step 1: 'cat made' ended with 0 .DONE., foretold was 1"),
        ({"oracle": (act("touch other"),)}, "the oracle does not reach the goal; failed: .*made"),
        ({"oracle": (act("touch made; false"),)}, "the oracle, step 1: .* ended with 1 .NONZERO., foretold was 0"),
        ({"oracle": (act("touch made", OutputContains(pattern="yes")),)}, "the oracle, step 1: .*yes.* does not hold"),
        ({"oracle": (act("touch made /srv/x"),)}, "the oracle changes /srv/x, which the task does not allow"),
        ({"setup": "head -c 9 /dev/urandom > x"}, "the world is another when it is built again"),
        ({"oracle": (act("touch made; head -c 9 /dev/urandom > x"),)}, "leaves another state the second time"),
        ({"oracle": (act("touch made; od -N 9 /dev/urandom"),)}, "step 1 has another stdout the second time"),
    ],
)
def test_notices_what_is_wrong(episode: Episode, change: dict[str, object], problem: str) -> None:
    """A validator that passes everything would pass every test above."""
    problems = validate(replace(SOUND, id="unsound", **change), episode).problems  # type: ignore[arg-type]  # by name
    assert any(re.search(problem, one) for one in problems), problems


def test_a_task_without_a_goal_is_told_that_alone(episode: Episode) -> None:
    """That the oracle misses a goal which is not there tells nobody anything."""
    problems = validate(replace(SOUND, goal=()), episode).problems
    assert problems == ("the task has no goal; give it at least one check",)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"setup": "echo the reason; exit 3"}, "setup ended with exit status 3; its output ends in:\nthe reason"),
        ({"files": (FileSpec(f"{HOME}/a", b"/etc", kind="symlink"), FileSpec(f"{HOME}/a/b"))}, "leads through the sym"),
        ({"read_only": (f"{HOME}/nowhere",)}, "nowhere"),
        ({"instruction": "x" * 1_000_000}, "instruction of 1000000 characters"),
    ],
)
def test_a_task_that_cannot_be_built_is_a_verdict(episode: Episode, change: dict[str, object], problem: str) -> None:
    """One broken task must not end the validation of the others, nor show its author the inside of the sandbox."""
    problems = validate(replace(SOUND, id="unbuilt", **change), episode).problems  # type: ignore[arg-type]  # by name
    assert len(problems) == 1
    assert problem in problems[0]
    assert validate(SOUND, episode).valid


def test_one_line_validates_a_task_of_ones_own() -> None:
    """Nobody should have to open an episode for it."""
    verdict = termgym.tasks.validate(SOUND)
    assert (verdict.task, verdict.problems) == ("sound", ())


def test_validates_what_is_named() -> None:
    names = [verdict.task for verdict in validate_all(["config-edit/overridden", "config-edit/wrong-value@9"], 2)]
    assert names == ["config-edit/overridden@0", "config-edit/overridden@1", "config-edit/wrong-value@9"]


def test_an_unknown_name_is_refused_before_anything_is_played() -> None:
    with pytest.raises(UnknownTask, match="no cause 'wrong'"):
        next(validate_all(["config-edit", "config-edit/wrong"]))
