"""Acting: which actions a check takes."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from rolf.checks.subject import AnyEnv

Actions = Callable[[np.random.Generator, Any, Any], Any] | Sequence[Any] | None
"""How a check acts: a function of (generator, observation, info); a sequence, from its beginning in every episode and
over again; None: what the environment's ``metadata["actions"]`` lists and samples of its action space."""
EXAMPLES = 0.75
"""Share of what ``metadata["actions"]`` lists, where it lists any; the rest are samples."""


class Actor:
    """Chooses the actions of one environment. What it does in an episode follows from the episode's key alone.

    Args:
        env: The environment.
        actions: How to act.
    """

    def __init__(self, env: AnyEnv, actions: Actions) -> None:
        self._actions = actions
        self._examples: Sequence[Any] = () if isinstance(actions, Sequence) else env.metadata.get("actions", ())
        self._rows = getattr(env, "num_envs", None)
        # A copy: drawing from the environment's own space would change what its owner draws next.
        self._space = copy.deepcopy(env.action_space)
        self._generator = np.random.default_rng(0)
        self._taken = 0

    def begin(self, key: tuple[int, ...]) -> None:
        """Begin an episode."""
        self._generator = np.random.default_rng(key)
        self._space.seed(int(self._generator.integers(2**31)))
        self._taken = 0

    def choose(self, observation: Any, info: Any) -> Any:
        """Return the next action."""
        index, self._taken = self._taken, self._taken + 1
        if callable(self._actions):
            return self._actions(self._generator, observation, info)
        if self._actions is not None:
            return self._in_rows(self._actions[index % len(self._actions)])
        if self._examples and self._generator.random() < EXAMPLES:
            return self._in_rows(self._examples[int(self._generator.integers(len(self._examples)))])
        return self._sample(observation, info)

    def _in_rows(self, action: Any) -> Any:
        """Return one action for every row, where there are rows."""
        return action if self._rows is None else [action] * self._rows

    def _sample(self, observation: Any, info: Any) -> Any:
        """Return a sample, of what is allowed now where the environment tells it."""
        space = self._space
        for told in (info, observation):
            mask = told.get("action_mask") if isinstance(told, dict) else None
            if isinstance(space, spaces.Discrete) and isinstance(mask, np.ndarray) and mask.shape == (space.n,):
                return space.sample(mask.astype(np.int8))
        return space.sample()
