"""Rows: what a vector environment says of one of its rows, in the terms of a single environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import concatenate, create_empty_array, iterate

from rolf.plain import plain


def batched(env: VectorEnv[Any, Any, Any], actions: Sequence[Any]) -> Any:
    """Return one action a row as ``step`` of a vector environment takes them."""
    space = env.single_action_space
    return concatenate(space, actions, create_empty_array(space, len(actions)))  # type: ignore[arg-type]  # is no None


def row_values(env: VectorEnv[Any, Any, Any], row: int, returned: Sequence[Any]) -> dict[str, Any]:
    """Return what ``reset`` or ``step`` of a single environment would have returned, by name.

    Where a row has ended and begun again in one step (``SAME_STEP``) that is what the step returned; see `row_begun`.

    Args:
        env: The vector environment.
        row: From 0.
        returned: What its ``reset`` or ``step`` returned.
    """
    infos = returned[-1]
    values = row_begun(env, row, returned)
    if row_ended_and_began(infos, row):
        values = {"observation": as_row(infos["final_obs"][row]), "info": as_row(_of(infos["final_info"], row))}
    if len(returned) == 2:
        return values
    ends = {"reward": returned[1], "terminated": returned[2], "truncated": returned[3]}
    return {
        "observation": values["observation"],
        **{name: alone(name, array[row]) for name, array in ends.items()},
        "info": values["info"],
    }


def row_begun(env: VectorEnv[Any, Any, Any], row: int, returned: Sequence[Any]) -> dict[str, Any]:
    """Return a row's observation and info as they are after a call, a reset included if there was one."""
    seen = list(iterate(env.observation_space, returned[0]))
    return {"observation": as_row(seen[row]), "info": as_row(_of(returned[-1], row))}


def row_ended_and_began(infos: Mapping[str, Any], row: int) -> bool:
    """Return whether a row has ended and begun again in one step."""
    return "final_obs" in infos and bool(infos["_final_obs"][row])


def alone(name: str, value: Any) -> Any:
    """Return what a single environment said under a name, in the types in which `row_values` says it."""
    kinds = {"reward": float, "terminated": bool, "truncated": bool}
    return kinds[name](value) if name in kinds else as_row(value)


def as_row(value: Any) -> Any:
    """Return a value as plain data in which whole numbers are floats: an array of infos has one type for all rows."""
    return _floats(plain(value))


def _floats(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_floats(item) for item in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _of(infos: Mapping[str, Any], row: int) -> dict[str, Any]:
    """Return what infos say of a row, without what they say of an episode that has just ended."""
    told: dict[str, Any] = {}
    for name, values in infos.items():
        if name.startswith("final_") or (name.startswith("_") and name[1:] in infos):
            continue
        present = infos.get(f"_{name}")
        if isinstance(present, np.ndarray) and not present[row]:
            continue
        told[name] = _of(values, row) if isinstance(values, Mapping) else values[row]
    return told
