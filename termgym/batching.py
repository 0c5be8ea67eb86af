"""Batching: the infos of many environments as one, in the form that Gymnasium gives them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

_NUMBERS = (bool, int, float)


def batch_infos(num_envs: int, infos: Iterable[tuple[int, dict[str, Any]]]) -> dict[str, Any]:
    """Return what ``VectorEnv._add_info`` makes of the same infos, column by column instead of cell by cell.

    Args:
        num_envs: Rows of the vector environment.
        infos: (row, info) pairs; of two infos of a row the later one counts where both have a key.

    Example:
        >>> batch_infos(2, [(1, {"steps": 3})])
        {'steps': array([0, 3]), '_steps': array([False,  True])}
    """
    columns: dict[str, list[tuple[int, Any]]] = {}
    for row, info in infos:
        for key, value in info.items():
            column = columns.get(key)
            if column is None:
                columns[key] = [(row, value)]
            else:
                column.append((row, value))
    batched: dict[str, Any] = {}
    for key, column in columns.items():
        mask = np.zeros(num_envs, dtype=np.bool_)
        mask[[row for row, _ in column]] = True
        batched[key], batched[f"_{key}"] = _column(num_envs, key, column), mask
    return batched


def _column(num_envs: int, key: str, column: list[tuple[int, Any]]) -> Any:
    first = column[0][1]
    if isinstance(first, dict) and key != "final_obs":
        return batch_infos(num_envs, column)
    array: np.ndarray[Any, Any]
    if type(first) in _NUMBERS or isinstance(first, np.number):
        array = np.zeros(num_envs, dtype=type(first))
    elif isinstance(first, np.ndarray):
        array = np.zeros((num_envs, *first.shape), dtype=first.dtype)
    else:
        array = np.full(num_envs, None, dtype=object)
    for row, value in column:
        array[row] = value
    return array
