"""World: what a trajectory's header must say of the environment, from the split and this installation alone.

Nothing that a stranger's file names is imported, made or run here.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from rolf.registration import registered
from rolf.trajectory import jsonable
from rolf.variant import Variant, canonical

OUTSIDE = ("disable_env_checker", "max_episode_steps", "render_mode")
"""Arguments of `gymnasium.make` that are not the environment's."""


@dataclass(frozen=True, slots=True)
class World:
    """What a header says of an environment that the split asks for."""

    env_id: str
    kwargs: Mapping[str, Any]
    """As the variant has them."""
    settings: Mapping[str, Any]
    """With those that the environment was registered with."""
    wrappers: list[Any]
    """As the variant has them."""
    max_episode_steps: int | None
    volatile: list[str]


def world(variant: Variant) -> World:
    """Return what is known of a variant's environment.

    Raises:
        gymnasium.error.Error: the environment is not known here.
        ImportError: its package is not installed.
    """
    registered, steps, volatile = _registered(variant.env_id)
    given = dict(variant.kwargs)
    settings = {key: value for key, value in {**registered, **given}.items() if key not in OUTSIDE}
    wrappers = [jsonable(dict(wrapper)) for wrapper in variant.wrappers]
    limit = given.get("max_episode_steps", steps)
    return World(variant.env_id, jsonable(given), jsonable(settings), wrappers, limit, list(volatile))


def made_out(variant: Variant) -> list[Any]:
    """Return a variant's wrappers as a recorder writes them: with every argument, those that were not given too."""
    wrappers = canonical([dict(wrapper) for wrapper in variant.wrappers])
    if wrappers not in _MADE_OUT:
        with closing(variant.make()) as env:
            assert env.spec is not None, "made by gymnasium.make"
            told = [jsonable(asdict(wrapper)) for wrapper in env.spec.additional_wrappers]
        _MADE_OUT[wrappers] = told
    return _MADE_OUT[wrappers]


_MADE_OUT: dict[bytes, list[Any]] = {canonical([]): []}
"""Wrappers as variants have them, in canonical form -> as recorders write them."""


@cache
def _registered(env_id: str) -> tuple[Mapping[str, Any], int | None, tuple[str, ...]]:
    """Return what an id was registered with, and what its environment calls volatile."""
    from gymnasium.envs.registration import load_env_creator

    spec = registered(env_id)
    assert spec.entry_point is not None, f"{env_id} was registered without an entry point"
    creator = load_env_creator(spec.entry_point) if isinstance(spec.entry_point, str) else spec.entry_point
    metadata = getattr(creator, "metadata", {})
    return dict(spec.kwargs), spec.max_episode_steps, tuple(metadata.get("volatile", ()))
