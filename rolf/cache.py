"""Cache: where this user's machine keeps what can be made again, such as images and copies of task folders."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path

VARIABLE = "ROLF_CACHE"
"""Environment variable that names another directory."""


def cache_directory(*below: str) -> Path:
    """Return a directory below the cache, made where it is missing; nobody else may look into the cache."""
    root = Path(os.environ.get(VARIABLE) or user_cache_path("rolf")).absolute()
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    found = root.joinpath(*below)
    found.mkdir(parents=True, exist_ok=True, mode=0o700)
    return found
