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
    there = np.asarray(infos.get(f"_{key}", np.ones(len(untold), np.bool_)))
    found = untold.copy()
    if there.any():
        given = np.asarray(infos[key])
        # Gymnasium's own vector environments tell arrays of objects where a row has an array of its own.
        stacked = np.stack(list(given[there])) if given.dtype == object and untold.dtype != object else given[there]
        found[there] = stacked.astype(untold.dtype)
    return found
