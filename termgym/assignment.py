"""Assignment: which task an episode is about, from what ``make`` and ``reset`` were told and a generator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from termgym.options import Options
from termgym.sandbox import open_sandbox
from termgym.sandbox.protocol import Sandbox
from termgym.tasks import blank, families, make_task
from termgym.tasks.task import Task

Given = str | Path | Task
"""How a task may be given: its name, the path of its folder, or itself."""
WORLD_SEEDS = 1 << 31
"""World seeds that a generator draws from."""


class Assignment:
    """The source of an environment's tasks.

    Args:
        task: A name (``family``, ``family/cause``, ``family/cause@seed``), the path of a task folder, a task, or None
            for a free shell.
        tasks: A directory of task folders, or a row of what ``task`` takes; each episode draws one.

    Raises:
        UnknownTask: there is no task of that name; the message suggests the nearest.
        FolderError: a task folder is none, or has a mistake.
        TypeError: it is neither a name nor a task.
        ValueError: ``task`` and ``tasks`` are both given, or there is none among ``tasks``.
    """

    def __init__(self, task: Given | None, tasks: Path | str | Sequence[Given] | None = None) -> None:
        if task is not None and tasks is not None:
            raise ValueError(f"task={task!r} and tasks={tasks!r} are both given; give one of the two")
        self._choice: tuple[Given, ...] = (task,) if task is not None else _row(tasks)
        self._read: dict[Path, Task] = {}
        for each in self._choice:
            self._look_at(each, into=task is not None)

    def next(self, generator: np.random.Generator, options: Mapping[str, Any] | None) -> Task:
        """Return the task of the next episode; one number is drawn, whether or not it is needed.

        Args:
            generator: The environment's.
            options: What ``reset`` was told; ``world_seed`` pins the world, and which of several tasks it is.

        Raises:
            ValueError: an option is unknown, or no world seed.
            FolderError: a task folder has a mistake.
        """
        seed = int(generator.integers(WORLD_SEEDS))
        if options is not None and not isinstance(options, Mapping):
            raise TypeError(f"options={options!r} is of type {type(options).__name__}; give a mapping, or None")
        for name, value in (options or {}).items():
            if name != "world_seed":
                raise ValueError(f"reset has no option {name!r}; allowed is 'world_seed', a whole number from 0")
            if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 0:
                raise ValueError(f"world_seed={value!r} is not allowed; give a whole number from 0")
            seed = int(value)
        if not self._choice:
            return blank()
        seed, index = divmod(seed, len(self._choice))
        return self._made(self._choice[index], seed)

    def _look_at(self, given: Given, *, into: bool) -> None:
        """Refuse what is no task; a folder among thousands is read when its turn comes."""
        if isinstance(given, (str, Path)):
            if into or not names_folder(given):
                self._made(given, 0)
        elif not isinstance(given, Task):
            raise TypeError(
                f"task={given!r} is of type {type(given).__name__}; give a name such as 'git-dirty-pull', the path of "
                "a task folder, a Task, or None"
            )

    def _made(self, given: Given, seed: int) -> Task:
        if isinstance(given, Task):
            return given
        if not names_folder(given):
            return make_task(str(given), seed)
        path = Path(given).expanduser().absolute()
        if path not in self._read:
            from termgym.folders import read_folder

            self._read[path] = read_folder(path).task
        return self._read[path]


def names_folder(given: str | Path) -> bool:
    """Return whether this is the path of a folder rather than the name of a task.

    A family's name goes before a directory of that name; write ``./name`` for the directory.
    """
    if isinstance(given, Path) or given.startswith(("/", "./", "../", "~")) or given in (".", ".."):
        return True
    return given.partition("@")[0].partition("/")[0] not in (*families(), "blank") and Path(given).is_dir()


def _row(tasks: Path | str | Sequence[Given] | None) -> tuple[Given, ...]:
    if tasks is None:
        return ()
    if not isinstance(tasks, (str, Path)):
        found = tuple(tasks)
    else:
        from termgym.folders import find_folders

        found = find_folders(Path(tasks).expanduser())
    if not found:
        raise ValueError(f"tasks={tasks!r} holds no task; give a directory of task folders, or a list of tasks")
    return found


def sandbox_opener(options: Options) -> partial[Sandbox]:
    """Return what makes the sandboxes of an environment that is set up like this."""
    return partial(
        open_sandbox,
        options.backend,
        snapshot=options.snapshot,
        network=options.network,
        clock=options.clock,
        limits=options.limits,
        log_dir=options.snapshot_dir,
        output_limit=options.output_limit,
    )
