"""What every family owes: an instruction that does not tell the cause, a tight fence, proof and symptom."""

from __future__ import annotations

import pytest

from termgym.checks import CommandSucceeds
from termgym.globs import outside
from termgym.snapshot.change import Change, ChangeKind
from termgym.tasks import HOME, causes, families, make_task

EVERY = [(family, cause) for family in families() for cause in causes(family)]


@pytest.mark.parametrize("family", families())
def test_the_instruction_does_not_tell_the_cause(family: str) -> None:
    """Telling causes apart is the skill: with the same seed, all causes are asked for in the very same words."""
    for seed in range(12):
        assert len({make_task(f"{family}/{cause}", seed).instruction for cause in causes(family)}) == 1


@pytest.mark.parametrize("family", families())
def test_nothing_but_the_cause_gives_the_cause_away(family: str) -> None:
    """What may change, how much may be used and how long it may take are the same for all causes."""
    for seed in range(5):
        tasks = [make_task(f"{family}/{cause}", seed) for cause in causes(family)]
        assert len({(task.allowed, task.limits, task.max_steps, task.read_only, task.tags) for task in tasks}) == 1


@pytest.mark.parametrize("family", families())
def test_an_instruction_is_a_persons_words(family: str) -> None:
    wordings = {make_task(family, seed).instruction.split()[0] for seed in range(20)}
    assert len(wordings) >= 2
    for seed in range(20):
        instruction = make_task(family, seed).instruction
        assert 100 < len(instruction) < 700
        assert "  " not in instruction
        assert instruction.endswith(".")


@pytest.mark.parametrize(("family", "cause"), EVERY)
def test_a_task_is_complete(family: str, cause: str) -> None:
    task = make_task(f"{family}/{cause}", 2)
    assert task.goal
    assert task.oracle
    assert task.symptom
    assert (task.family, task.cause, task.seed) == (family, cause, 2)
    assert all(plan.expected_exit_code == 0 for plan in task.oracle)
    paths = [file.path for file in task.files]
    assert len(paths) == len(set(paths))
    assert all(path.startswith((HOME, "/srv/")) for path in paths)
    assert all(check.timeout <= 10 for check in task.goal if isinstance(check, CommandSucceeds))


@pytest.mark.parametrize(("family", "cause"), EVERY)
def test_what_may_change_is_fenced_tightly(family: str, cause: str) -> None:
    """Clutter and shared places never belong to what a task lets go."""
    task = make_task(f"{family}/{cause}", 2)
    elsewhere = [file.path for file in task.files if "/notes/" in file.path or "/Downloads/" in file.path]
    elsewhere += [f"{HOME}/new", f"{HOME}/.bashrc", "/srv/new"]
    changes = [Change(path, ChangeKind.CONTENT) for path in elsewhere]
    assert outside(changes, task.allowed) == tuple(sorted(elsewhere))
