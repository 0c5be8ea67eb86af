"""What termgym offers to the command line: ``rolf.environments.Environment`` as a module (see pyproject.toml)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rolf.environments import TaskEntry, Verdict
from termgym.checkup import checkup

__all__ = ["EXAMPLE", "HEADINGS", "SUMMARY", "checkup", "recognises", "tasks", "validate"]

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


def recognises(name: str) -> bool:
    """See ``rolf.environments.Environment.recognises``: a family, ``blank``, or MODULE:NAME."""
    from termgym.tasks import families

    family = name.partition("@")[0].partition("/")[0]
    return family in (*families(), "blank") or ":" in family
