"""RLlib: environments under a name that its algorithms find, as vectors of numbers (extra ``ray``).

RLlib's networks take one vector of float32 and a number, or several, for an action; what makes that of an environment
is chosen by its spaces (`rolf_adapters.presentation.Presentation`). With
``gym_env_vectorize_mode="vector_entry_point"`` an environment that has a vector version of its own plays all
environments of a runner as one batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from rolf.registration import registered
from rolf_adapters.presentation import Library, Presentation, presented

try:
    from ray.tune.registry import register_env
except ImportError as error:
    raise ImportError(f"RLlib needs ray and what its algorithms use ({error}): pip install 'rolf[ray]'") from error

RLLIB = Library("RLlib", (spaces.Discrete, spaces.MultiDiscrete, spaces.Box), flat=True, places=64)


@dataclass(frozen=True, slots=True)
class Presented:
    """Makes an environment as RLlib takes it; what `register` puts under a name, and Ray sends to its workers.

    Called with RLlib's ``env_config``: arguments for ``gymnasium.make``, over those that were registered.
    """

    env_id: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    presentation: Presentation | None = None

    def __call__(self, config: Mapping[str, Any]) -> Any:
        """Return the environment, or a vector environment where RLlib asks for several in one.

        Raises:
            TypeError: its spaces cannot be presented; the message says what would help.
        """
        given = {**self.arguments, **config}
        rows = given.pop("num_envs", None)
        if rows is not None:
            return _ApartRows(self.batch(rows, given))
        runner = getattr(config, "worker_index", 0) or 0
        env = self.single(given)
        return _Apart(env, runner) if runner else env

    def single(self, arguments: Mapping[str, Any]) -> gym.Env[Any, Any]:
        """Return one environment, with what it needs round it."""
        env: gym.Env[Any, Any] = gym.make(self.env_id, **arguments)
        try:
            return presented(env, self.presentation or Presentation(), RLLIB)
        except (TypeError, ValueError) as error:
            env.close()
            error.add_note(f"in {self.env_id}")
            raise

    def batch(self, rows: int, arguments: Mapping[str, Any]) -> gym.vector.VectorEnv[Any, Any, Any]:
        """Return the environment's own vector version, which is taken as it is.

        Raises:
            TypeError: it has none with vectors of float32 for observations and actions, from 0, that RLlib takes.
            ValueError: it is to return the same arrays again and again.
        """
        if arguments.get("copy") is False:
            raise ValueError("copy=False: RLlib keeps the observations that it is given; leave copy out")
        spec = registered(self.env_id)
        why = "it has no vector version" if spec.vector_entry_point is None else ""
        if self.presentation is not None:
            why = "a presentation needs an environment a row"
        if not why:
            made: gym.vector.VectorEnv[Any, Any, Any] = gym.make_vec(
                self.env_id, num_envs=rows, vectorization_mode="vector_entry_point", **arguments
            )
            seen, does = made.single_observation_space, made.single_action_space
            vector = isinstance(seen, spaces.Box) and seen.dtype == "float32" and len(seen.shape) == 1
            if vector and isinstance(does, RLLIB.actions) and not np.any(getattr(does, "start", 0)):
                return made
            made.close()
            why = f"observations are {seen} and actions {does}"
        raise TypeError(f"{self.env_id} cannot be played as one batch: {why}; leave gym_env_vectorize_mode as it is")


class _Apart(gym.Wrapper[Any, Any, Any, Any]):
    """One environment of a runner: runner ``w`` seeds row ``i`` with ``seed + w + i``, so neighbours would share."""

    def __init__(self, env: gym.Env[Any, Any], runner: int) -> None:
        super().__init__(env)
        self._runner = runner

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode with a seed that no other runner's rows have."""
        return super().reset(seed=None if seed is None else _drawn(seed, self._runner), options=options)


class _ApartRows(gym.vector.VectorWrapper):
    """All environments of a runner: RLlib tells a batch no number of the runner, but each runner has its own seed."""

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode in each row, with seeds that no other runner's rows have."""
        return super().reset(seed=_drawn(int(seed)) if isinstance(seed, (int, np.integer)) else seed, options=options)


def _drawn(*numbers: int) -> int:
    """Return a seed below 2**62 that follows from numbers, and far from those that follow from their neighbours."""
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> np.uint64(2))


def register(
    name: str,
    env_id: str,
    *,
    presentation: Presentation | None = None,
    **arguments: Any,
) -> str:
    """Put an environment under a name for ``AlgorithmConfig.environment``, and return the name.

    Observations become one vector of float32; texts are counted word by word before that, 64 numbers each where
    nothing is said. The mask of possible actions goes into ``info["action_mask"]``. Rows have seeds of their own, of
    whichever runner they are: RLlib's would be shared by all but the first row of neighbouring runners.

    Args:
        name: What RLlib calls it; what had this name is replaced.
        env_id: Gymnasium id with its module: ``linegym:LineEnv-v1``.
        presentation: What the rules leave open: a menu, for one, where actions are text.
        arguments: For ``gymnasium.make``; ``env_config`` may have others.
    """
    register_env(name, Presented(env_id, arguments, presentation))
    return name
