"""Teaching: policies of the line that say, for every row of a vector environment, what they would do.

For learners that imitate before they find out for themselves. A policy that is told the faults teaches what nobody can
know; whoever learns from it is a contestant like any other, and says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linegym.policies import Lineup, Policy, policy


class Teacher:
    """Asks a policy what it would do in the rows of a ``LineVectorEnv``.

    >>> import gymnasium as gym
    >>> envs = gym.make_vec("linegym:LineEnv-v1", num_envs=2, variants="fit")
    >>> seen, infos = envs.reset(seed=0)
    >>> teacher = oracle_diagnosis()
    >>> teacher.begin(envs, np.ones(2, np.bool_))
    >>> teacher.act(seen, infos).shape
    (2,)
    >>> envs.close()

    Args:
        player: Who is asked. One that counts ticks, as ``cusum`` does, teaches only steps of one tick.
    """

    def __init__(self, player: Policy) -> None:
        self.player = player
        self._begun = False

    def begin(self, envs: Any, rows: NDArray[np.bool_]) -> None:
        """Get ready for the episodes that have just begun in these rows of the environment."""
        variants = envs.unwrapped.variants
        lineup = Lineup.of(variants, np.zeros(len(variants), np.uint64))
        self.player.begin(lineup, rows if self._begun else None)
        self._begun = True

    def act(self, observations: NDArray[np.float32], infos: Mapping[str, Any]) -> NDArray[np.int64]:  # (rows,)
        """Return what it would do in each row."""
        return self.player.act(observations, infos["action_mask"] == 1, infos)


def cusum() -> Teacher:
    """Return the expert, which knows no more than a contestant."""
    return Teacher(policy("cusum"))


def oracle_diagnosis() -> Teacher:
    """Return the expert's desk with a diagnosis that is told every fault."""
    return Teacher(policy("oracle diagnosis"))
