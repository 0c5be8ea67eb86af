"""Oracle: carries out the solution that a task brings along."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rolf.evaluation.policy import Start
from termgym.plan import ActionPlan, Submit
from termgym.policies.hand import Hand


class Oracle:
    """The upper end of the scale: it looks into the environment for the task's own solution."""

    privileged = True

    def begin(self, start: Start) -> None:
        """See ``rolf.evaluation.policy.Policy.begin``."""
        self._hand = Hand(start)
        self._plans = self._solution(start.env.unwrapped)

    def act(self, observation: Any, info: Mapping[str, Any]) -> str:
        """See ``rolf.evaluation.policy.Policy.act``."""
        del observation, info
        return self._hand.written(next(self._plans, Submit()))

    def _solution(self, env: Any) -> Iterator[ActionPlan | Submit]:
        """Yield the plans of each stage, and the submission that ends it."""
        for stage in env.task.stages or (env.task,):
            oracle = getattr(stage, "oracle", ())
            if oracle:
                yield from oracle
            elif stage.solution is not None:
                yield env.episode.show_solution()
            yield Submit()
