"""Compile the production line before its first test, not in it: that takes half a minute, and a test has two."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_finish(session: pytest.Session) -> None:
    """Warm up when something of this folder will run."""
    if session.config.option.collectonly or not any(HERE in item.path.parents for item in session.items):
        return
    import linegym  # only now: whoever tests the terminal alone needs no compiler

    linegym.warmup(threads=2)
