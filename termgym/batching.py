"""Batching: the infos of many environments as one, in the form that Gymnasium gives them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

_NUMBERS = (bool, int, float)


def batch_infos(num_envs: int, infos: Sequence[tuple[int, dict[str, Any]]]) -> dict[str, Any]:
    """Return what ``VectorEnv._add_info`` makes of the same infos, column by column instead of cell by cell.

    Args:
        num_envs: Rows of the vector environment.
        infos: (row, info) pairs; of two infos of a row the later one counts where both have a key.

    Example:
        >>> batch_infos(2, [(1, {"steps": 3})])
        {'steps': array([0, 3]), '_steps': array([False,  True])}
    """
    rows = [row for row, _ in infos]
    shared = infos[0][1].keys() if infos else ()
    if all(info.keys() == shared for _, info in infos):  # the usual case
        columns = {key: (rows, [info[key] for _, info in infos]) for key in shared}
    else:
        columns = _uneven_columns(infos)
    complete = list(range(num_envs))
    batched: dict[str, Any] = {}
    for key, (told, values) in columns.items():
        if told == complete:
            mask = np.ones(num_envs, dtype=np.bool_)
        else:
            mask = np.zeros(num_envs, dtype=np.bool_)
            mask[told] = True
        batched[key], batched[f"_{key}"] = _column(num_envs, key, told, values), mask
    return batched


def _uneven_columns(infos: Sequence[tuple[int, dict[str, Any]]]) -> dict[str, tuple[list[int], list[Any]]]:
    """Return the rows that tell a key and what they tell, in the order in which keys first come up."""
    columns: dict[str, tuple[list[int], list[Any]]] = {}
    for row, info in infos:
        for key, value in info.items():
            told, values = columns.setdefault(key, ([], []))
            told.append(row)
            values.append(value)
    return columns


def _column(num_envs: int, key: str, rows: list[int], values: list[Any]) -> Any:
    first = values[0]
    if isinstance(first, dict) and key != "final_obs":
        return batch_infos(num_envs, list(zip(rows, values, strict=True)))
    array: np.ndarray[Any, Any]
    if type(first) in _NUMBERS or isinstance(first, np.number):
        array = np.zeros(num_envs, dtype=type(first))
        array[rows] = values
        return array
    if isinstance(first, np.ndarray):
        array = np.zeros((num_envs, *first.shape), dtype=first.dtype)
    else:
        array = np.full(num_envs, None, dtype=object)
    for row, value in zip(rows, values, strict=True):
        array[row] = value
    return array
