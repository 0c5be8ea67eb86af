"""Named: the tasks that the names of the command line stand for."""

from __future__ import annotations

from collections.abc import Sequence

from termgym.errors import UnknownTask
from termgym.tasks.imported import imported
from termgym.tasks.registry import causes, families, make_task
from termgym.tasks.task import Task


def named(names: Sequence[str], seeds: int) -> list[Task]:
    """Return ``seeds`` worlds of each task named, in the order of the names.

    Args:
        names: ``family``, ``family/cause`` or ``family/cause@seed`` (then this world alone), or ``module:NAME`` for
            what `imported` finds; none: all families.
        seeds: World seeds 0 to ``seeds - 1``.

    Raises:
        UnknownTask: no task has one of the names.
    """
    return [task for name in names or families() for task in _named(name, seeds)]


def _named(name: str, seeds: int) -> list[Task]:
    if ":" in name:
        return imported(name, seeds)
    if "@" in name:
        return [make_task(name)]
    if name == "blank":
        raise UnknownTask(
            "the task 'blank' has no goal, so there is nothing to validate; `rolf list` names those that do"
        )
    family, slash, cause = name.partition("/")
    among = (cause,) if slash else causes(family)
    return [make_task(f"{family}/{one}", seed) for one in among for seed in range(seeds)]
