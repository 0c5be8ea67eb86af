"""Oracle: carries out the solution that a task brings along."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rolf.evaluation.policy import Start
from termgym.plan import Submit
from termgym.policies.hand import Hand
from termgym.tasks.playthrough import solution


class Oracle:
    """The upper end of the scale: it looks into the environment for the task's own solution."""

    privileged = True

    def begin(self, start: Start) -> None:
        """See ``rolf.evaluation.policy.Policy.begin``."""
        self._hand = Hand(start)
        world: Any = start.env.unwrapped
        self._plans = solution(world.task, world.episode)

    def act(self, observation: Any, info: Mapping[str, Any]) -> str:
        """See ``rolf.evaluation.policy.Policy.act``."""
        del observation, info
        return self._hand.written(next(self._plans, Submit()))
