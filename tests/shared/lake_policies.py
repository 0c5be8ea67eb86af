"""Policies for FrozenLake, for tests of evaluations: honest ones, and one that says of itself what is not so."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

import numpy as np

from rolf.evaluation.policy import Start

LEFT, DOWN, RIGHT, UP = range(4)
WAY = {0: DOWN, 4: DOWN, 8: RIGHT, 9: DOWN, 13: RIGHT, 14: RIGHT, 1: RIGHT, 2: DOWN, 6: DOWN, 10: DOWN, 3: LEFT}
"""Field -> the way to the goal, where it does not slip."""


class Walker:
    """Knows the way."""

    name = "walker"
    deterministic = True

    def begin(self, start: Start) -> None:
        pass

    def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        return np.int64(WAY.get(int(observation), LEFT))


class Wanderer:
    """Goes anywhere."""

    name = "wanderer"
    deterministic = False

    def begin(self, start: Start) -> None:
        self._chance = Random(start.seed)

    def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        return np.int64(self._chance.choice([DOWN, RIGHT, RIGHT, DOWN, LEFT]))


class Pretender(Wanderer):
    """Says of itself that it is deterministic."""

    name = "pretender"
    deterministic = True


class Seer(Walker):
    """Is told the truth, and says so."""

    name = "seer"
    privileged = True


class Mirror(Wanderer):
    """Goes anywhere else."""

    name = "wanderer"

    def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        return np.int64(3 - super().act(observation, info))
