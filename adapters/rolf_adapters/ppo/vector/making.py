"""Making: the vector environment that a learner plays, and what is to be known of its spaces."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

import gymnasium as gym
from gymnasium.envs.registration import load_env_creator
from gymnasium.vector import AutoresetMode

from rolf.evaluation.origin import origin
from rolf_adapters.ppo.orchestrator import families

OURS = frozenset({"num_envs", "autoreset_mode", "vectorization_mode", "vector_kwargs"})
"""Arguments of ``make_vec`` that follow from other settings."""


class Spaces(NamedTuple):
    """What is to be known of an environment's spaces."""

    observation: int
    """Numbers of an observation."""
    parts: tuple[int, ...]
    """Actions of each part of an action."""
    discrete: bool
    """Whether an action is a number and no array."""
    first: int
    """What the environment calls the first action."""


def made(env_id: str, rows: int, kwargs: Mapping[str, Any]) -> Any:
    """Return a vector environment that resets no row by itself.

    The environment's own one is taken if it can leave rows alone, Gymnasium's ``SyncVectorEnv`` otherwise.

    Args:
        env_id: Of Gymnasium.
        rows: How many.
        kwargs: For the environment.

    Raises:
        ValueError: something in ``kwargs`` is not the environment's to be told.
    """
    for mine in OURS & {*kwargs}:
        raise ValueError(f"environment.kwargs has {mine!r}, which is set by the trainer: rollout.rows says how many")
    module, _, name = env_id.rpartition(":")
    if module:
        import_module(module)  # which registers it
    own = gym.spec(name).vector_entry_point
    if own is not None:
        creator = load_env_creator(own) if isinstance(own, str) else own
        if "autoreset_mode" in inspect.signature(creator).parameters:
            return gym.make_vec(env_id, num_envs=rows, autoreset_mode=AutoresetMode.DISABLED, **kwargs)
    settings = {"autoreset_mode": AutoresetMode.DISABLED}
    return gym.make_vec(env_id, num_envs=rows, vectorization_mode="sync", vector_kwargs=settings, **kwargs)


def spaces_in(seen: gym.Space[Any], done: gym.Space[Any], env_id: str) -> Spaces:
    """Return what is to be known of the spaces of observations and actions.

    Raises:
        TypeError: observations are no flat array of numbers, or actions are neither numbered nor of numbered parts.
    """
    if not isinstance(seen, gym.spaces.Box) or len(seen.shape) != 1:
        raise TypeError(
            f"{env_id} has observations {seen!s:.120}; the vector learner wants a Box of one dimension; "
            "gymnasium.wrappers.FlattenObservation makes one"
        )
    if isinstance(done, gym.spaces.Discrete):
        return Spaces(seen.shape[0], (int(done.n),), True, int(done.start))
    if isinstance(done, gym.spaces.MultiDiscrete) and done.nvec.ndim == 1 and not done.start.any():
        return Spaces(seen.shape[0], tuple(int(n) for n in done.nvec), False, 0)
    raise TypeError(f"{env_id} has actions {done!s:.120}; the vector learner wants Discrete, or MultiDiscrete from 0")


def variants_of(env_id: str, split: str, key: str = "environment.split") -> dict[str, str]:
    """Return the values of the argument ``variant`` that make a split of an environment's benchmark.

    Args:
        env_id: Of Gymnasium.
        split: As ``LineEnv``'s ``line-v1/fit``.
        key: Of the configuration, which says so.

    Returns:
        Value -> the group of variants like it: its family, and its level where there is one.

    Raises:
        ValueError: the environment has no splits, or this one is not made of such variants.
        LookupError: it has no split of that name; the message suggests the nearest.
    """
    found = origin(env_id)
    if found is None:
        raise ValueError(f"{env_id} brings no splits; leave {key}={split!r} out, or give variants")
    try:
        members = found.split(split)
    except LookupError as error:
        raise LookupError(f"{key}: {error}") from error
    groups = families(members)
    if not all(isinstance(each.kwargs.get("variant"), str) for each in members.variants):
        raise ValueError(f"{key}={split!r} of {env_id} is not told apart by the argument 'variant'; give variants")
    return {str(each.kwargs["variant"]): groups[each.name] for each in members.variants}
