"""Stages: where an episode stands among the stages of its task, and what its verdicts come to.

A task with a verifier and no stages is one of a single stage.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from termgym.tasks.task import Task
from termgym.tasks.verifier import Stage
from termgym.verification.verdict import Verdict

SETUP = "setup.sh"
"""A file among those of a stage that Harbor runs once in the working directory before the agent goes on."""


class Stages:
    """The stages of one episode.

    Args:
        task: Whose stages they are.
    """

    def __init__(self, task: Task) -> None:
        self._staged = bool(task.stages)
        self._last_counts = task.stage_reward == "final"
        self._all: tuple[Stage, ...] = task.stages
        if task.verifier is not None:
            self._all = (Stage("", task.instruction, task.verifier, task.solution),)
        self._instruction = task.instruction
        self._rewards: list[float] = []

    @property
    def current(self) -> Stage | None:
        """The stage that the agent works at, or worked at last; None: nothing is verified in this task."""
        return self._all[min(len(self._rewards), len(self._all) - 1)] if self._all else None

    @property
    def instruction(self) -> str:
        """What the agent is asked to do now."""
        return self._instruction if self.current is None else self.current.instruction

    @property
    def named(self) -> str:
        """What the agent was asked and given so far: every instruction, and the paths of files put there for it."""
        so_far = self._all[: len(self._rewards) + 1]
        given = (path for stage in so_far if stage.workdir for path in _files(stage.workdir))
        return "\n".join([*(stage.instruction for stage in so_far), *given])

    def record(self, verdict: Verdict) -> bool:
        """Take down the verdict on the current stage; return whether another follows."""
        stage = self.current
        assert stage is not None
        self._rewards.append(verdict.reward)
        enough = stage.least_reward is None or verdict.gated >= stage.least_reward
        return enough and not self.complete

    @property
    def complete(self) -> bool:
        """Whether every stage has its verdict."""
        return len(self._rewards) == len(self._all)

    @property
    def reward(self) -> float:
        """What all verdicts come to. A stage that was not reached counts as 0.

        Harbor leaves such a stage out, which would pay for staying where one is until the steps are used up.
        """
        if self._last_counts:
            return self._rewards[-1] if self.complete else 0.0
        return sum(self._rewards) / len(self._all)

    @property
    def told(self) -> dict[str, Any] | None:
        """What ``info["stage"]`` says once a stage has its verdict; None in a task without stages."""
        if not self._staged:
            return None
        number = len(self._rewards)
        return {
            "name": self._all[number - 1].name,
            "number": number,
            "of": len(self._all),
            "reward": self._rewards[-1],
            "rewards": tuple(self._rewards),
        }

    def state(self) -> Mapping[str, Any]:
        """Return what later verdicts depend on."""
        return {"rewards": list(self._rewards)}

    def load(self, state: Mapping[str, Any]) -> None:
        """Go back to what ``state`` returned."""
        self._rewards = [float(reward) for reward in state["rewards"]]


def _files(directory: str) -> Sequence[str]:
    found = []
    for place, _, files in os.walk(directory):
        found += [os.path.relpath(os.path.join(place, name), directory) for name in files]
    return sorted(found)
