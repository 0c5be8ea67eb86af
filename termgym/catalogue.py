"""What termgym offers to the command line: ``rolf.environments.Environment`` as a module (see pyproject.toml)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rolf.environments import Case, TaskEntry, Verdict
from termgym.checkup import checkup

__all__ = ["EXAMPLE", "HEADINGS", "SUMMARY", "cases", "checkup", "judge", "recognises", "tasks", "validate"]

SUMMARY = "a real Linux terminal"
HEADINGS = "task", "symptom", "causes"
EXAMPLE = 'gymnasium.make("termgym:TermEnv-v1", task="git-dirty-pull")  # or "git-dirty-pull/modified", one cause'
"""How to make one of what ``tasks`` lists."""


def tasks() -> Sequence[TaskEntry]:
    """Return the task families, sorted by name."""
    from termgym.tasks import causes, families, summary

    return [TaskEntry(name, tuple(causes(name)), summary(name)) for name in families()]


def validate(names: Sequence[str], seeds: int) -> Iterator[Verdict]:
    """See ``rolf.environments.Environment.validate``."""
    from termgym.tasks.validation import validate_all

    yield from validate_all(names, seeds)


def cases(names: Sequence[str], seeds: int) -> Sequence[Case]:
    """See ``rolf.environments.Divisible.cases``."""
    from termgym.tasks.digest import task_digest
    from termgym.tasks.named import named

    return [Case(task.id, task_digest(task), task) for task in named(names, seeds)]


@contextmanager
def judge() -> Iterator[Callable[[Case], Verdict]]:
    """See ``rolf.environments.Divisible.judge``: one machine for all cases."""
    from termgym.tasks.validation import validator

    with validator() as validate_one:
        yield lambda case: validate_one(case.instance)


def recognises(name: str) -> bool:
    """See ``rolf.environments.Environment.recognises``: a family, ``blank``, or MODULE:NAME."""
    from termgym.tasks import families

    family = name.partition("@")[0].partition("/")[0]
    return family in (*families(), "blank") or ":" in family
