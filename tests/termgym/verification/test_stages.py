"""Stages follow one another as Harbor's do, but for what was never reached."""

from __future__ import annotations

from pathlib import Path

import pytest

from termgym.image import Recipe
from termgym.tasks.task import Task
from termgym.tasks.verifier import Stage, Verifier
from termgym.verification.stages import Stages
from termgym.verification.verdict import Verdict


def staged(*least: float | None, final: bool = False, workdir: str = "") -> Stages:
    """Return the stages of a task, each with its threshold."""
    stages = tuple(
        Stage(f"s{number}", f"do {number}", Verifier("/"), workdir=workdir, least_reward=bound)
        for number, bound in enumerate(least, 1)
    )
    reward = "final" if final else "mean"
    return Stages(Task("t", "do 1", image=Recipe(reference="debian"), stages=stages, stage_reward=reward))


def said(reward: float) -> Verdict:
    return Verdict({"reward": reward})


def test_goes_from_stage_to_stage() -> None:
    stages = staged(None, 0.5, None)
    assert stages.instruction == "do 1"
    assert stages.record(said(0.25))
    assert stages.instruction == "do 2"
    assert stages.record(said(0.5))
    assert stages.instruction == "do 3"
    assert not stages.record(said(1.0))
    assert stages.complete
    assert stages.reward == pytest.approx(1.75 / 3)
    assert stages.told == {"name": "s3", "number": 3, "of": 3, "reward": 1.0, "rewards": (0.25, 0.5, 1.0)}


def test_stops_below_the_threshold() -> None:
    """What was not reached counts as 0."""
    stages = staged(0.6, None)
    assert not stages.record(said(0.5))
    assert (stages.complete, stages.reward) == (False, 0.25)


def test_a_threshold_wants_the_reward_of_that_name() -> None:
    assert not staged(0.1, None).record(Verdict({"style": 1.0}))


def test_the_last_verdict_alone_may_count() -> None:
    stages = staged(None, None, final=True)
    assert stages.record(said(0.0))
    assert stages.reward == 0.0
    stages.record(said(0.75))
    assert stages.reward == 0.75


def test_a_task_with_a_verifier_has_one_stage_that_is_not_told() -> None:
    stages = Stages(Task("t", "do it", image=Recipe(reference="debian"), verifier=Verifier("/")))
    assert stages.current is not None
    assert not stages.record(said(0.5))
    assert (stages.instruction, stages.reward, stages.told) == ("do it", 0.5, None)


def test_a_task_without_a_verifier_has_none() -> None:
    stages = Stages(Task("t", "do it"))
    assert (stages.current, stages.instruction) == (None, "do it")


def test_goes_back_to_a_kept_moment() -> None:
    stages = staged(None, None, None)
    stages.record(said(0.5))
    kept = stages.state()
    stages.record(said(1.0))
    stages.load(kept)
    assert (stages.instruction, stages.told) == (
        "do 2",
        {"name": "s1", "number": 1, "of": 3, "reward": 0.5, "rewards": (0.5,)},
    )


def test_files_that_came_with_a_stage_are_named(tmp_path: Path) -> None:
    """They are the author's, so the guard must not take them for the agent's."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/conftest.py").touch()
    assert "sub/conftest.py" in staged(None, workdir=str(tmp_path)).named
