"""Every task can be solved as it says, and validation notices one that cannot."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import NoReturn

import pytest

import termgym.tasks
from termgym.assignment import sandbox_opener
from termgym.checks import FileExists, OutputContains
from termgym.episode import Episode
from termgym.errors import SandboxError, SandboxUnavailable, UnknownTask
from termgym.options import Options
from termgym.outcome import Outcome
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


def test_a_machine_that_fails_says_nothing_about_the_task() -> None:
    """A fault is reported with its task, apart from what is wrong with it, and the next task is played."""

    def fail() -> NoReturn:
        raise SandboxError("the disk is gone")

    options = Options.of({})
    verdict = validate(SOUND, Episode(fail, options))
    assert (verdict.problems, verdict.fault, verdict.valid) == ((), "the disk is gone", False)


class Doomed(Episode):
    """Its machine's supervisor is killed at every step."""

    def step(self, text: str) -> Outcome:
        process = self._sandbox._supervisor._process  # type: ignore[union-attr]  # of the real sandbox
        process.kill()
        process.wait()
        return super().step(text)


def test_a_machine_that_fails_in_mid_episode_is_a_fault() -> None:
    """Not "the oracle does not reach the goal"."""
    options = Options.of({"backend": "local-unsafe"})
    doomed = Doomed(sandbox_opener(options), options)
    verdict = validate(SOUND, doomed)
    doomed.close()
    assert (verdict.problems, verdict.valid) == ((), False)
    assert "the sandbox failed" in verdict.fault


def test_a_host_that_can_play_nothing_is_an_error() -> None:
    """The same line for each of a hundred tasks would help nobody."""

    def refuse() -> NoReturn:
        raise SandboxUnavailable("no bubblewrap")

    with pytest.raises(SandboxUnavailable, match="no bubblewrap"):
        validate(SOUND, Episode(refuse, Options.of({})))


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
