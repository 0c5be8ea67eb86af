"""The tasks that SmolLM2 learns with: they can be solved, not by doing nothing, and those of the test are others."""

from __future__ import annotations

import json
from importlib import import_module
from types import ModuleType

import pytest
from scripts import EXAMPLES

from termgym.env import TermEnv


@pytest.fixture(scope="module")
def graded() -> ModuleType:
    """The example's file, as a configuration beside it finds it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(EXAMPLES / "training"))
        return import_module("graded_tasks")


def played(env: TermEnv, commands: list[str]) -> tuple[bool, list[float]]:
    """Return whether commands succeed, and the rewards."""
    env.reset(seed=0)
    steps = [env.step(json.dumps({"command": command})) for command in commands]
    return bool(steps[-1][4]["success"]), [step[1] for step in steps]


def check(graded: ModuleType, count: int) -> None:
    for number in range(count):
        task = graded.task(number)
        env = TermEnv(task=task, reward="shaped", weights={"gamma": 1.0})
        solved, rewards = played(env, [plan.command for plan in task.oracle])
        assert solved, task
        assert sum(rewards) == pytest.approx(1.0), "the shaping cancels"
        assert len(rewards) == len(task.id.partition("/")[0].split("-")) - 1, "one command, or two"
        assert played(env, [":", ":"]) == (False, [0.0, 0.0]), task
        env.close()


def test_their_solutions_solve_them_and_nothing_does_not(graded: ModuleType) -> None:
    """Some of each kind."""
    check(graded, 45)
    assert len({graded.task(number).id.partition("/")[0] for number in range(45)}) == 8


@pytest.mark.nightly
@pytest.mark.timeout(1800)
def test_that_holds_of_all(graded: ModuleType) -> None:
    """All that are drawn from."""
    check(graded, 6000)


def test_half_of_two_commands_is_told_by_the_reward(graded: ModuleType) -> None:
    """Otherwise a model that never does both learns nothing from either."""
    task = next(each for each in map(graded.task, range(100)) if each.id.startswith("level3-delete-write"))
    env = TermEnv(task=task, reward="shaped", weights={"gamma": 1.0})
    assert played(env, [task.oracle[0].command, ":"]) == (False, [0.5, -0.5])
    env.close()


def test_no_task_is_in_both_parts(graded: ModuleType) -> None:
    """What is tested asks for something that was never asked in training; and a number always makes the same task."""
    train, test = ({each.instruction for each in graded.tasks(test=part)} for part in (False, True))
    assert not train & test
    assert len(test) > 900
    assert graded.task(17) == graded.task(17)
    levels = [sum(each.id.startswith(f"level{level}") for each in graded.tasks(test=True)) for level in (1, 2, 3)]
    assert min(levels) > 400, "levels are drawn alike"
