"""Row info: what a vector environment tells of one of its rows, as a single environment would tell it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def of_row(infos: Mapping[str, Any], row: int) -> dict[str, Any]:
    """Return what is told of a row, as copies; what is told of others alone is left out.

    Args:
        infos: As Gymnasium's vector environments tell them: an array an entry, or entries below it; what its name has
            an underscore before says of which rows it is told.
        row: Which.
    """
    found: dict[str, Any] = {}
    for name, value in infos.items():
        if name.startswith("_"):
            continue
        if isinstance(value, Mapping):
            found[name] = of_row(value, row)
        elif f"_{name}" not in infos or infos[f"_{name}"][row]:
            found[name] = np.copy(value[row]) if isinstance(value[row], np.ndarray) else value[row]
    return found
