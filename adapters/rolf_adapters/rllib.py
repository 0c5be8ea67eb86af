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
        return self.single(given) if rows is None else self.batch(rows, given)

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
            TypeError: it has none whose observations are vectors of float32 and whose actions RLlib takes.
        """
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
            if vector and isinstance(does, RLLIB.actions):
                return made
            made.close()
            why = f"observations are {seen} and actions {does}"
        raise TypeError(f"{self.env_id} cannot be played as one batch: {why}; leave gym_env_vectorize_mode as it is")


def register(
    name: str,
    env_id: str,
    *,
    presentation: Presentation | None = None,
    **arguments: Any,
) -> str:
    """Put an environment under a name for ``AlgorithmConfig.environment``, and return the name.

    Observations become one vector of float32; texts are counted word by word before that, 64 numbers each where
    nothing is said. The mask of possible actions goes into ``info["action_mask"]``.

    Args:
        name: What RLlib calls it; what had this name is replaced.
        env_id: Gymnasium id with its module: ``linegym:LineEnv-v1``.
        presentation: What the rules leave open: a menu, for one, where actions are text.
        arguments: For ``gymnasium.make``; ``env_config`` may have others.
    """
    register_env(name, Presented(env_id, arguments, presentation))
    return name
