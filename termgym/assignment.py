"""Assignment: which task an episode is about, from what ``make`` and ``reset`` were told and a generator."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from termgym.options import Options
from termgym.sandbox import open_sandbox
from termgym.sandbox.protocol import Sandbox
from termgym.tasks import blank, make_task
from termgym.tasks.task import Task

WORLD_SEEDS = 1 << 31
"""World seeds that a generator draws from."""


class Assignment:
    """The source of an environment's tasks.

    Args:
        task: A name (``family``, ``family/cause``, ``family/cause@seed``), a task, or None for a free shell.

    Raises:
        UnknownTask: there is no task of that name; the message suggests the nearest.
        TypeError: it is neither a name nor a task.
    """

    def __init__(self, task: str | Task | None) -> None:
        if not (task is None or isinstance(task, (str, Task))):
            kind = type(task).__name__
            raise TypeError(f"task={task!r} is of type {kind}; give a name such as 'git-dirty-pull', a Task, or None")
        if isinstance(task, str):
            make_task(task, 0)
        self._task = task

    def next(self, generator: np.random.Generator, options: Mapping[str, Any] | None) -> Task:
        """Return the task of the next episode; one number is drawn, whether or not it is needed.

        Args:
            generator: The environment's.
            options: What ``reset`` was told; ``world_seed`` pins the world.

        Raises:
            ValueError: an option is unknown, or no world seed.
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
        if self._task is None:
            return blank()
        return self._task if isinstance(self._task, Task) else make_task(self._task, seed)


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
