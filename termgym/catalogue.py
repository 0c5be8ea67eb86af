"""What termgym offers to the command line: ``rolf.environments.Environment`` as a module (see pyproject.toml)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rolf.environments import TaskEntry, Verdict
from termgym.checkup import checkup

__all__ = ["SUMMARY", "checkup", "tasks", "validate"]

SUMMARY = "a real Linux terminal"


def tasks() -> Sequence[TaskEntry]:
    """Return the task families, sorted by name."""
    from termgym.tasks import causes, families, summary

    return [TaskEntry(name, tuple(causes(name)), summary(name)) for name in families()]


def validate(names: Sequence[str], seeds: int) -> Iterator[Verdict]:
    """See ``rolf.environments.Environment.validate``."""
    from termgym.tasks.validation import validate_all

    yield from validate_all(names, seeds)
