"""Tasks by name: what is found, what is refused, and that a name stands for one task for ever."""

from __future__ import annotations

import subprocess
import sys

import pytest

from termgym.errors import UnknownTask
from termgym.tasks import blank, causes, families, make_task, summary
from termgym.tasks.registry import _BY_NAME
from termgym.tasks.world import World

EVERY = [(family, cause) for family in families() for cause in causes(family)]


def test_offers_eight_families_with_two_causes_or_more() -> None:
    """The promise of the first release."""
    assert set(families()) >= {
        "archive-restore", "config-edit", "env-inactive", "git-dirty-pull", "log-forensics", "nohup-job",
        "permission-denied", "port-in-use",
    }  # fmt: skip
    assert all(len(causes(family)) >= 2 for family in families())
    for family in ("git-dirty-pull", "permission-denied", "env-inactive", "nohup-job"):
        assert len(causes(family)) >= 3


def test_a_name_may_pin_the_cause_and_the_world() -> None:
    assert make_task("git-dirty-pull/untracked", 3).id == "git-dirty-pull/untracked@3"
    assert make_task("git-dirty-pull/untracked@4", 3).id == "git-dirty-pull/untracked@4"
    assert make_task("git-dirty-pull@4", 3) == make_task("git-dirty-pull", 4)


def test_the_seed_chooses_every_cause_sooner_or_later() -> None:
    for family in families():
        assert {make_task(family, seed).cause for seed in range(40)} == set(causes(family))


def test_the_symptom_of_a_family_is_told_in_a_line() -> None:
    assert [summary(family) for family in families()] == [_BY_NAME[family].summary for family in families()]


def test_blank_has_no_goal() -> None:
    assert make_task("blank", 5) == blank()
    assert blank().goal == ()


@pytest.mark.parametrize(
    ("name", "hint"), [("git-dirty-pul", "'git-dirty-pull'"), ("conifg-edit/overridden", "'config-edit'")]
)
def test_an_unknown_family_is_refused_with_the_nearest(name: str, hint: str) -> None:
    with pytest.raises(UnknownTask, match=rf"Did you mean {hint}.*families\(\)"):
        make_task(name)


def test_an_unknown_cause_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownTask, match=r"no cause 'modifed'.*Did you mean 'modified'\? It has modified, untracked"):
        make_task("git-dirty-pull/modifed")
    with pytest.raises(UnknownTask, match=r"no task family 'nothing-like-it'. There are"):
        causes("nothing-like-it")


@pytest.mark.parametrize(
    ("name", "seed"), [("blank@x", 0), ("config-edit@-1", 0), ("config-edit", -1), ("config-edit", True)]
)
def test_a_seed_that_is_none_is_refused(name: str, seed: int) -> None:
    with pytest.raises(ValueError, match="is not a whole number of zero or more"):
        make_task(name, seed)


@pytest.mark.parametrize(("family", "cause"), EVERY)
def test_a_name_and_a_seed_make_one_task_in_every_process(family: str, cause: str) -> None:
    """Nothing may depend on hash order, global random state, time or what was made before."""
    build = _BY_NAME[family].causes[cause]
    assert build(World(family, cause, 11)) == build(World(family, cause, 11))
    assert make_task(f"{family}/{cause}", 11) == make_task(f"{family}/{cause}", 11)


def test_another_process_with_another_hash_seed_makes_the_same_tasks() -> None:
    script = (
        "import hashlib, random; random.seed(1); from termgym.tasks import *\n"
        "tasks = [make_task(f'{family}/{cause}', 5) for family in families() for cause in causes(family)]\n"
        "print(hashlib.sha256(repr(tasks).encode()).hexdigest())"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", script], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1
