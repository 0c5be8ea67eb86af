"""RLlib: environments under a name that its algorithms find, as vectors of numbers (extra ``ray``).

RLlib's networks take one vector of float32 and a number, or several, for an action; what makes that of an environment
is chosen by its spaces. With ``gym_env_vectorize_mode="vector_entry_point"`` an environment that has a vector version
of its own plays all environments of a runner as one batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym
from gymnasium import spaces

from rolf.registration import registered
from rolf_wrappers import EncodedObservation, FlatFloat

try:
    from ray.tune.registry import register_env
except ImportError as error:
    raise ImportError(f"RLlib needs ray and what its algorithms use ({error}): pip install 'rolf[ray]'") from error

TEXT_PLACES = 64
"""How many places the words of each text get, where nothing is said."""


@dataclass(frozen=True, slots=True)
class Presented:
    """Makes an environment as RLlib takes it; what `register` puts under a name, and Ray sends to its workers.

    Called with RLlib's ``env_config``: arguments for ``gymnasium.make``, over those that were registered.
    """

    env_id: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    menu: Mapping[str, Any] | None = None
    text_places: int = TEXT_PLACES

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
        if self.menu is not None:
            from rolf_wrappers import MenuAction  # needs pydantic, which takes longer than all the rest

            env = MenuAction(env, self.menu)
        texts = _texts(env.observation_space)
        if texts:
            env = EncodedObservation(env, dict.fromkeys(texts, self.text_places), kind="hashed")
        env = FlatFloat(env)
        _check_action(self.env_id, env.action_space)
        return env

    def batch(self, rows: int, arguments: Mapping[str, Any]) -> gym.vector.VectorEnv[Any, Any, Any]:
        """Return the environment's own vector version, which is taken as it is.

        Raises:
            TypeError: it has none whose observations are vectors of float32.
        """
        spec = registered(self.env_id)
        seen = None
        if spec.vector_entry_point is not None and self.menu is None:
            made: gym.vector.VectorEnv[Any, Any, Any] = gym.make_vec(
                self.env_id, num_envs=rows, vectorization_mode="vector_entry_point", **arguments
            )
            seen = made.single_observation_space
            if isinstance(seen, spaces.Box) and seen.dtype == "float32" and len(seen.shape) == 1:
                _check_action(self.env_id, made.single_action_space)
                return made
            made.close()
        what = "it has no vector version" if spec.vector_entry_point is None else f"observations are {seen}"
        why = "a menu needs an environment a row" if self.menu is not None else what
        raise TypeError(f"{self.env_id} cannot be played as one batch: {why}; leave gym_env_vectorize_mode as it is")


def register(
    name: str,
    env_id: str,
    *,
    menu: Mapping[str, Any] | None = None,
    text_places: int = TEXT_PLACES,
    **arguments: Any,
) -> str:
    """Put an environment under a name for ``AlgorithmConfig.environment``, and return the name.

    Observations become one vector of float32 (`rolf_wrappers.FlatFloat`); texts are counted word by word before that
    (`rolf_wrappers.EncodedObservation`). The mask of possible actions goes into ``info["action_mask"]``.

    Args:
        name: What RLlib calls it; what had this name is replaced.
        env_id: Gymnasium id with its module: ``linegym:LineEnv-v1``.
        menu: Entries by name for `rolf_wrappers.MenuAction`; needed where actions are text.
        text_places: Places that each text gets.
        arguments: For ``gymnasium.make``; ``env_config`` may have others.

    Raises:
        ValueError: ``text_places`` is not positive.
    """
    if text_places < 1:
        raise ValueError(f"text_places={text_places}; give at least one")
    register_env(name, Presented(env_id, arguments, menu, text_places))
    return name


def _texts(space: gym.Space[Any]) -> Sequence[str]:
    """Return the names of the entries that are texts."""
    if not isinstance(space, spaces.Dict):
        return ()
    return [name for name, each in space.items() if isinstance(each, spaces.Text)]


def _check_action(env_id: str, space: gym.Space[Any]) -> None:
    """Raise TypeError where RLlib has no distribution for what is to be done."""
    if not isinstance(space, spaces.Discrete | spaces.MultiDiscrete | spaces.Box):
        help_ = "give register(..., menu={NAME: ACTION, …})"
        raise TypeError(f"{env_id}: actions are {space}, which RLlib has no distribution for; {help_}")
