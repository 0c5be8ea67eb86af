"""Named: the tasks that the names of the command line stand for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from termgym.assignment import names_folder
from termgym.errors import UnknownTask
from termgym.folders import find_folders
from termgym.tasks.imported import imported
from termgym.tasks.registry import causes, families, make_task
from termgym.tasks.task import Task


def named(names: Sequence[str], seeds: int) -> list[Task | Path]:
    """Return ``seeds`` worlds of each task named, in the order of the names; task folders by their paths, not yet read.

    Args:
        names: ``family``, ``family/cause`` or ``family/cause@seed`` (then this world alone), ``module:NAME`` for
            what `imported` finds, or the path of a task folder or of a directory of them; none: all families.
        seeds: World seeds 0 to ``seeds - 1``.

    Raises:
        UnknownTask: no task has one of the names.
    """
    return [task for name in names or families() for task in _named(name, seeds)]


def _named(name: str, seeds: int) -> Sequence[Task | Path]:
    if names_folder(name):
        return _folders(name)
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


def _folders(path: str) -> tuple[Path, ...]:
    """Return the task folders that lie somewhere, as paths like the one given."""
    given = Path(path).expanduser()
    if not given.is_dir():
        raise UnknownTask(f"{path!r} is no directory; give a task folder, or a directory of them")
    found = find_folders(given)
    if not found:
        raise UnknownTask(
            f"{path!r} holds no task folder; one has a task.toml (Harbor) or a task.yaml (Terminal-Bench)"
        )
    return tuple(given / each.relative_to(given.absolute()) for each in found)
