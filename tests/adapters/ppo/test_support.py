"""Nothing that is held out is trained on by mistake."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rolf.evaluation.origin import origins
from rolf.splitting import as_json, find_split
from rolf_adapters.ppo.language import settings as language
from rolf_adapters.ppo.language.problems import Problems
from rolf_adapters.ppo.support import check_support
from rolf_adapters.ppo.vector.learner import build
from rolf_adapters.ppo.vector.settings import Environment, Policy, Rollout, Settings, Training


def line(**environment: Any) -> Settings:
    return Settings(
        environment=Environment(id="linegym:LineEnv-v1", kwargs={"max_episode_steps": 4}, **environment),
        rollout=Rollout(rows=2, steps=4, statistics=4),
        policy=Policy(width=8),
        training=Training(iterations=1),
    )


def test_every_split_of_the_installed_environments_says_whether_it_is_for_training() -> None:
    said = {entry.name: entry.training for module in origins().values() for entry in module.splits()}
    assert {name for name, training in said.items() if training} >= {"line-v1/train", "line-v1/fit", "term-v1/train"}
    for name in ("iid", "all", "validation", "held-out", "sweep"):
        assert said[f"line-v1/{name}"] is False
    assert not {name for name, training in said.items() if training and "unseen" in name}


@pytest.mark.parametrize("name", ["line-v1/iid", "line-v1/validation", "line-v1/all"])
def test_lines_that_are_held_out_are_not_trained_on(name: str) -> None:
    wrong = rf"environment\.split is '{name}', which is not there .*; give 'line-v1/train' or 'line-v1/fit', or say"
    with pytest.raises(ValueError, match=wrong):
        build(line(split=name), seed=0)


def test_who_says_so_may_and_what_tests_may_be_anything() -> None:
    for given in ({"split": "line-v1/iid", "held_out": True}, {"split": "line-v1/fit", "test_split": "line-v1/iid"}):
        learner = build(line(**given), seed=0)
        learner.close()


def test_tasks_that_are_held_out_are_not_learned_on(tmp_path: Path) -> None:
    """A part of such a split is not, either, nor a copy of it in a file."""
    copy = tmp_path / "mine.json"
    copy.write_text(json.dumps(as_json(find_split("term-v1/unseen-cause[:3]"))))
    for name in ("term-v1/validation[:5]", "term-v1/unseen-cause", str(copy)):
        with pytest.raises(ValueError, match=r"not there to be trained on: .*; give 'term-v1/train', or say"):
            Problems(language.Environment(split=name))
        assert Problems(language.Environment(split=name, held_out=True)).draw(1, "x", seed=0)
    assert Problems(language.Environment(split="term-v1/train[:5]", evaluation_split="term-v1/validation[:5]"))


def test_of_a_split_of_somebodys_own_nobody_knows() -> None:
    check_support("mine/hard", held_out=False)
