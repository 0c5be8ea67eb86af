"""Playthrough: one episode played by a script, from the world as it was built to what was left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from termgym.episode import Episode
from termgym.errors import SandboxError
from termgym.outcome import Outcome
from termgym.plan import ActionPlan, Submit
from termgym.tasks.task import Task

NO_VERDICT = "VerifierError"
"""The failure that says something of the task, and not of the machine."""


class Playthrough(NamedTuple):
    """What was seen in one episode."""

    before: str
    """Digest of the initial state."""
    outcomes: tuple[Outcome, ...]

    @property
    def last(self) -> Outcome:
        """The outcome of the last step."""
        return self.outcomes[-1]


def play(task: Task, episode: Episode, plans: Sequence[ActionPlan], *, submit: bool = False) -> Playthrough:
    """Play plans in a fresh episode of a task, until it ends or they do; then submit if told so.

    Raises:
        TaskError: the task cannot be built.
        SandboxError, SnapshotError: the machine failed.
    """
    return _played(task, episode, iter((*plans, *((Submit(),) if submit else ()))))


def play_nothing(task: Task, episode: Episode) -> Playthrough:
    """Submit each stage of a task as it is found; raises what `play` raises."""
    return _played(task, episode, (Submit() for _ in range(max(1, len(task.stages)))))


def play_solution(task: Task, episode: Episode) -> Playthrough:
    """Carry out the solution of each stage of a task, and submit it; raises what `play` raises."""
    return _played(task, episode, solution(task, episode))


def solution(task: Task, episode: Episode) -> Iterator[ActionPlan | Submit]:
    """Yield what the author of a task would do, stage by stage, as the episode is ready for it."""
    for stage in task.stages or (task,):
        if task.oracle:
            yield from task.oracle
        elif stage.solution is not None:
            yield episode.show_solution()
        yield Submit()


def _played(task: Task, episode: Episode, actions: Iterator[ActionPlan | Submit]) -> Playthrough:
    episode.start(task)
    before = episode.state_digest()
    outcomes: list[Outcome] = []
    for action in actions:
        outcomes.append(episode.step(action.model_dump_json()))
        if outcomes[-1].info["failure_kind"] not in (None, NO_VERDICT):
            raise SandboxError(outcomes[-1].stderr)
        if outcomes[-1].ended:
            break
    return Playthrough(before, tuple(outcomes))
