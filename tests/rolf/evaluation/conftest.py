"""A toy environment, installed beside the others for one test."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import toy_contest
from click.testing import CliRunner
from evaluations import ROLF

from rolf.cli import main
from rolf.evaluation.origin import origins

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def toys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The toy environment is installed, for this process and those it starts; gives a folder to work in."""
    site = toy_contest.installed(tmp_path / "site")
    monkeypatch.syspath_prepend(site)
    shared = str(Path(toy_contest.__file__).parent)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), shared]))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    origins.cache_clear()
    path = list(sys.path)
    yield work
    sys.path[:] = path  # the command looks in the working directory
    origins.cache_clear()


@pytest.fixture
def rolf(toys: Path) -> Run:
    """Runs the command line there, in this process: starting one costs more than most of what it does."""

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        done = CliRunner().invoke(main, [str(argument) for argument in arguments], catch_exceptions=False)
        return subprocess.CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)

    return run


@pytest.fixture
def shell(toys: Path) -> Run:
    """Runs the command line there as a person does, in a process of its own, with warnings as errors."""

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*ROLF, *map(str, arguments)], capture_output=True, text=True, timeout=100, cwd=toys)

    return run
