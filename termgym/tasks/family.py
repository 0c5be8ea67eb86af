"""Family: several causes behind one symptom, and the short words that families are written in."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from termgym.checks import Check, CommandSucceeds
from termgym.plan import ActionPlan
from termgym.tasks.task import Task
from termgym.tasks.world import World, clutter

Builder = Callable[[World], Task]
"""Makes the task of one cause; `Family.make` fills in id, family, cause, seed, tags and the clutter."""


@dataclass(frozen=True, slots=True)
class Family:
    """One symptom with its possible causes."""

    name: str
    """As in ``make_task(name)``: lower case, words joined by hyphens."""
    summary: str
    """One line for lists: the symptom, not the causes."""
    causes: Mapping[str, Builder]
    tags: tuple[str, ...] = ()

    def make(self, cause: str, seed: int) -> Task:
        """Return the task of one of the causes in the world of this seed."""
        world = World(self.name, cause, seed)
        draft = self.causes[cause](world)
        return replace(
            draft,
            id=world.name,
            family=self.name,
            cause=cause,
            seed=seed,
            tags=(*self.tags, *draft.tags),
            files=draft.files + clutter(world),
        )


def act(command: str, *checks: Check, exits: int | None = 0, timeout: float = 30.0) -> ActionPlan:
    """Return a plan: a command, its exit status (None: any), and what must hold afterwards."""
    return ActionPlan(command=command, timeout=timeout, expected_exit_code=exits, validation_steps=checks)


def holds(
    command: str, *, pattern: str | None = None, timeout: float = 10.0, others_run: bool = False
) -> CommandSucceeds:
    """Return a check that a bash command succeeds (and prints what ``pattern`` finds)."""
    return CommandSucceeds(command=command, pattern=pattern, timeout=timeout, others_run=others_run)


def sha256(content: bytes) -> str:
    """Return the SHA-256 of a content, in hex."""
    return hashlib.sha256(content).hexdigest()
