"""The sparse reward, and the proof that shaping leaves every policy its return."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termgym.checks import FileExists
from termgym.event import Event
from termgym.plan import ActionPlan
from termgym.result import StepResult
from termgym.reward.facts import CheckResult, StepFacts
from termgym.reward.shaping import ShapedReward, SuccessReward
from termgym.tasks.task import Task

CHECKS = 4
TASK = Task(id="toy/none@0", instruction="None.", goal=tuple(FileExists(path=str(n)) for n in range(CHECKS)))
STEP = StepFacts(step=0, action=ActionPlan(command="true"), result=StepResult(Event.DONE, 0))


def goal(*passed: bool) -> tuple[CheckResult, ...]:
    return tuple(CheckResult(f"file_exists {n}", each) for n, each in enumerate(passed))


def share(count: int) -> tuple[CheckResult, ...]:
    return goal(*(n < count for n in range(CHECKS)))


def test_success_pays_one_once() -> None:
    reward = SuccessReward()
    reward.reset(TASK)
    assert reward.step(STEP) == {"task_success": 0.0}
    assert reward.step(replace(STEP, success=True)) == {"task_success": 1.0}
    assert reward.step(replace(STEP, success=True)) == {"task_success": 0.0}
    reward.reset(TASK)
    assert reward.step(replace(STEP, success=True)) == {"task_success": 1.0}


def test_a_check_more_is_paid_and_a_check_less_is_taken_back() -> None:
    """gamma = 0.5, four checks of which one holds at the start: Phi = 0, 1/4, 0, 2/4, then the end."""
    reward = ShapedReward(0.5)
    reward.reset(TASK, share(1))
    got = [reward.step(replace(STEP, goal=share(count)))["shaping"] for count in (2, 1, 3)]
    assert got == [0.5 * 0.25 - 0.0, 0.5 * 0.0 - 0.25, 0.5 * 0.5 - 0.0]
    last = reward.step(replace(STEP, goal=share(4), success=True, ended=True))
    assert last == {"task_success": 1.0, "shaping": -0.5}


def test_doing_nothing_is_worth_nothing() -> None:
    """What holds without a finger moved is the baseline."""
    reward = ShapedReward(0.9)
    reward.reset(TASK, share(3))
    assert reward.step(replace(STEP, goal=share(3))) == {"task_success": 0.0, "shaping": 0.0}


trajectories = st.lists(st.integers(0, CHECKS), min_size=1, max_size=12)


@given(st.integers(0, CHECKS), trajectories, st.floats(0.0, 1.0), st.booleans())
def test_shaping_adds_the_same_constant_to_every_trajectory(
    start: int, counts: list[int], gamma: float, reached: bool
) -> None:
    """Policy invariance: the discounted sum telescopes to gamma^T Phi(end) - Phi(start) = 0, whatever was done.

    So the discounted return of every trajectory, and with it the order of all policies, is that of the sparse reward.
    """
    shaped, sparse = ShapedReward(gamma), SuccessReward()
    shaped.reset(TASK, share(start))
    sparse.reset(TASK)
    difference = 0.0
    for step, count in enumerate(counts):
        last = step == len(counts) - 1
        facts = replace(STEP, step=step, goal=share(count), ended=last, success=last and reached)
        difference += gamma**step * (sum(shaped.step(facts).values()) - sum(sparse.step(facts).values()))
    assert difference == pytest.approx(0.0, abs=1e-12)


def test_without_the_terminal_potential_the_return_would_change() -> None:
    """The trap that the definition avoids (Grzes 2017): a potential left standing at the end is paid to the agent."""
    reward = ShapedReward(1.0)
    reward.reset(TASK, share(0))
    unfinished = reward.step(replace(STEP, goal=share(3)))["shaping"]
    assert unfinished == 0.75
    assert unfinished + reward.step(replace(STEP, goal=share(3), ended=True))["shaping"] == 0.0


def test_a_step_whose_goal_was_not_looked_at_keeps_its_potential() -> None:
    """With gamma = 1 that pays nothing; with less, the discount is due all the same, or the sum would not telescope."""
    reward = ShapedReward(0.5)
    reward.reset(TASK, share(0))
    reward.step(replace(STEP, goal=share(2)))
    assert reward.step(STEP)["shaping"] == 0.5 * 0.5 - 0.5


def test_a_partly_evaluated_goal_is_an_error() -> None:
    """The share would be of something else; better loud than a reward that is subtly wrong."""
    reward = ShapedReward(1.0)
    with pytest.raises(ValueError, match="needs all 4 goal checks evaluated, got 0"):
        reward.reset(TASK)
    reward.reset(TASK, share(0))
    with pytest.raises(ValueError, match="needs all 4 goal checks evaluated, got 2"):
        reward.step(replace(STEP, goal=goal(True, False)))


def test_a_task_without_a_goal_has_no_shaping() -> None:
    reward = ShapedReward(0.9)
    reward.reset(replace(TASK, goal=()))
    assert reward.step(STEP) == {"task_success": 0.0, "shaping": 0.0}


def test_a_step_outside_an_episode_is_nothing() -> None:
    reward = ShapedReward(0.9)
    reward.reset(TASK, share(0))
    outside = replace(STEP, result=StepResult(Event.NOT_RESET), success=True, goal=share(4))
    assert reward.step(outside) == {"task_success": 0.0, "shaping": 0.0}


@given(st.integers(0, CHECKS), trajectories, trajectories)
def test_going_back_to_a_kept_state_gives_the_same_rewards(start: int, before: list[int], after: list[int]) -> None:
    reward = ShapedReward(0.9)
    reward.reset(TASK, share(start))
    for count in before:
        reward.step(replace(STEP, goal=share(count)))
    kept = json.loads(json.dumps(reward.state()))
    first = [reward.step(replace(STEP, goal=share(count), success=count == CHECKS)) for count in after]
    other = ShapedReward(0.9)
    other.load(kept)
    assert [other.step(replace(STEP, goal=share(count), success=count == CHECKS)) for count in after] == first
