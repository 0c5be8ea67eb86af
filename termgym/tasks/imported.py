"""Tasks that somebody's own module offers: ``module:NAME``."""

from __future__ import annotations

from importlib import import_module

from termgym.errors import TaskError, UnknownTask
from termgym.tasks.family import Family
from termgym.tasks.task import Task


def imported(name: str, seeds: int) -> list[Task]:
    """Return the tasks behind ``module:NAME``: a `Task`, a function ``(seed) -> Task``, or a `Family`.

    Args:
        name: An importable module, a colon, and a name in it.
        seeds: Worlds of what makes them from a seed: 0 to ``seeds - 1``.

    Raises:
        UnknownTask: there is no such module or name, it is none of the three, or a task in it is wrong.
    """
    module_name, _, attribute = name.partition(":")
    if not module_name or module_name.startswith("."):
        raise UnknownTask(f"{name!r} names no module; write 'module:NAME'")
    try:
        module = import_module(module_name)
        if not hasattr(module, attribute):
            raise UnknownTask(f"module {module_name!r} has no {attribute!r}; write 'module:NAME'")
        return _tasks(getattr(module, attribute), name, seeds)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise  # the module is there; what it imports is not
        raise UnknownTask(f"no module {module_name!r} to find {name!r} in; write 'module:NAME'") from error
    except TaskError as error:
        raise UnknownTask(f"{name!r} makes no task: {error}") from error


def _tasks(found: object, name: str, seeds: int) -> list[Task]:
    if isinstance(found, Task):
        return [found]
    if isinstance(found, Family):
        return [found.make(cause, seed) for cause in found.causes for seed in range(seeds)]
    if not callable(found):
        raise _no_task(name, found)
    tasks = [found(seed) for seed in range(seeds)]
    for task in tasks:
        if not isinstance(task, Task):
            raise _no_task(f"{name}(seed)", task)
    return tasks


def _no_task(name: str, found: object) -> UnknownTask:
    return UnknownTask(
        f"{name} is {found!r} of type {type(found).__name__}; allowed are a Task, a function (seed) -> Task, a Family"
    )
