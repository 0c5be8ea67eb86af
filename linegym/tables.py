"""The two tables of the plant: the normal quantile and the sine, as ``docs/reference/plant.md`` defines them.

Mathematical libraries differ in the last bits between machines, so nothing is computed here: the entries ship as
hexadecimal floats (``data/tables.json``, made by ``data/make_tables.py``) and are read on first use.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from linegym.errors import DataError

NORMAL_ENTRIES = 1284
TABLES_SHA256 = "7069c7327db68e23d095ce93de096fabc28e5c4de5c26e0b1cbf6d83f9970eaa"
"""Digest of the file; another file would mean other episodes under the same version of the environment."""

NORMAL: NDArray[np.float64]  # (NORMAL_ENTRIES,)
"""Minus the normal quantile: four levels, finer towards the tail."""
SINE: NDArray[np.float64]  # (plant.SINE_ENTRIES,)
"""``sin(2 pi i / SINE_ENTRIES)``."""


def published(name: str, sha256: str) -> bytes:
    """Return the content of a file of ``linegym.data``.

    Raises:
        DataError: it is not the file that was published.
    """
    content = files("linegym.data").joinpath(name).read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise DataError(f"linegym/data/{name} has SHA-256 {found!r}, expected {sha256!r}; install rolf again")
    return content


@cache
def _tables() -> dict[str, NDArray[np.float64]]:
    content = json.loads(published("tables.json", TABLES_SHA256))
    return {name.upper(): np.array([float.fromhex(entry) for entry in table]) for name, table in content.items()}


def __getattr__(name: str) -> NDArray[np.float64]:
    if name in ("NORMAL", "SINE"):
        return _tables()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
