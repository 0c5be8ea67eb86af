"""Infos: what the ``info`` of a vector environment tells of each row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def told(infos: Mapping[str, Any], key: str, untold: NDArray[Any]) -> NDArray[Any]:
    """Return what ``info`` tells of each row; of a row of which it tells nothing, what ``untold`` has of it."""
    if key not in infos:
        return untold
    return _taken(np.asarray(infos[key]), _there(infos, key, len(untold)), untold)


def masks(infos: Mapping[str, Any], key: str, rows: int, actions: int) -> NDArray[np.bool_]:  # (rows, actions)
    """Return which actions are possible in each row: all, where no mask is told, or one of another size.

    That is one of other choices: LineEnv tells the mask of its flat actions whatever actions it takes.
    """
    every = np.ones((rows, actions), np.bool_)
    if key not in infos:
        return every
    given, there = np.asarray(infos[key]), _there(infos, key, rows)
    if given.dtype == object:
        there = there & [np.shape(each) == (actions,) for each in given]
    elif given.shape[1:] != (actions,):
        return every
    return _taken(given, there, every)


def mask(info: Mapping[str, Any], key: str, actions: int) -> NDArray[np.bool_]:  # (actions,)
    """Return the same of an environment by itself."""
    given = info.get(key)
    fits = given is not None and np.shape(given) == (actions,)
    return np.asarray(given, np.bool_) if fits else np.ones(actions, np.bool_)


def _there(infos: Mapping[str, Any], key: str, rows: int) -> NDArray[np.bool_]:
    return np.asarray(infos.get(f"_{key}", np.ones(rows, np.bool_)))


def _taken(given: NDArray[Any], there: NDArray[np.bool_], untold: NDArray[Any]) -> NDArray[Any]:
    """Return what was given where it is there."""
    found = untold.copy()
    if there.any():
        # Gymnasium's own vector environments tell arrays of objects where a row has an array of its own.
        stacked = np.stack(list(given[there])) if given.dtype == object and untold.dtype != object else given[there]
        found[there] = stacked.astype(untold.dtype)
    return found
