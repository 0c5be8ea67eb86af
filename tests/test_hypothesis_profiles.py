"""Ordinary runs of the tests draw the same examples each time, nightly ones others."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

DRAWS = """
import pathlib
from hypothesis import given, settings, strategies as st

drawn = pathlib.Path("drawn").open("a")

@given(st.integers(0, 10**9))
@settings(max_examples=20)
def test_draws(number):
    print(number, file=drawn, flush=True)

@given(st.integers(0, 10**9))
def test_finds(number):
    assert number < 1_000
"""


def run(folder: Path, *arguments: str, **variables: str) -> tuple[str, str]:
    """Return what was drawn and what was said, by the project's profiles in a folder of its own."""
    folder.mkdir()
    shutil.copy(Path(__file__).with_name("conftest.py"), folder)
    (folder / "test_draws.py").write_text(DRAWS)
    (folder / "pytest.ini").write_text("[pytest]\n")
    known = {name: value for name, value in os.environ.items() if name != "CI"} | variables
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(command, cwd=folder, env=known, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr  # one test fails
    return (folder / "drawn").read_text(), done.stdout


def test_ordinary_runs_are_the_same_here_and_on_ci(tmp_path: Path) -> None:
    """And remember nothing: what failed here before is not tried first."""
    here, _ = run(tmp_path / "here")
    there, _ = run(tmp_path / "there", CI="true")
    assert here == there
    assert not (tmp_path / "here" / ".hypothesis" / "examples").exists()


def test_nightly_runs_differ_and_say_how_a_failure_comes_back(tmp_path: Path) -> None:
    """On CI, where Hypothesis draws the same unless it is told."""
    first, said = run(tmp_path / "first", "--hypothesis-profile=nightly", CI="true")
    second, _ = run(tmp_path / "second", "--hypothesis-profile=nightly", CI="true")
    assert first != second
    assert "@reproduce_failure(" in said
