"""Every example runs, as a user runs it, and its closing number is right."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts import EXAMPLES, Checks, run_example

CHECKS: Checks = {
    "evaluate_policy.py": ([], lambda score: score == 100.0),
    "check_environment.py": ([], lambda passed: passed == 12),
    "first_episode.py": ([], lambda total: total > 0),
    "many_shells.py": (["--shells", "4", "--steps", "3"], lambda rate: rate > 0),
    "own_task.py": ([], lambda steps: steps > 1),
    "record_and_replay.py": ([], lambda steps: steps == 6),
}
"""Example -> its arguments for a short run, and what its last line must be."""


def test_every_example_is_checked() -> None:
    """An example that nobody runs rots first."""
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(CHECKS)


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_example_runs(name: str, tmp_path: Path) -> None:
    """A newcomer copies an example before reading a manual."""
    run_example(EXAMPLES / name, CHECKS, tmp_path)
