"""Examples as programs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

EXAMPLES = Path(__file__).parent.parent.parent / "examples"

Checks = Mapping[str, tuple[list[str], Callable[[float], bool]]]
"""Example -> its arguments for a short run, and what its last line must be."""


def run_example(path: Path, checks: Checks, folder: Path, *, seconds: float = 100) -> None:
    """Run an example as a user runs it, with warnings as errors.

    Args:
        path: The example.
        checks: How it is run and what it prints last.
        folder: Where it runs.
        seconds: How long it may take [s].

    Raises:
        AssertionError: it fails, or prints another number.
    """
    arguments, right = checks[path.name]
    command = [sys.executable, "-W", "error", str(path), *arguments]
    temporary = folder / "tmp"  # of its own: libraries leave folders behind
    temporary.mkdir()
    environment = os.environ | {"TMPDIR": str(temporary)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, cwd=folder, env=environment)
    assert done.returncode == 0, done.stderr
    assert right(float(done.stdout.splitlines()[-1])), done.stdout
