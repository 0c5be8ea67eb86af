"""Leftover: what is put off is done, and nothing heavy is put off."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from termgym.sandbox import open_sandbox
from termgym.sandbox.leftover import Leftover
from termgym.sandbox.local import LocalSandbox
from termgym.tasks.task import Task


def test_holds_on_to_a_light_tree_until_it_is_cleared() -> None:
    leftover = Leftover()
    leftover.keep(Path("/proc"))  # has no content of its own
    assert leftover.there
    leftover.clear()
    assert not leftover.there


def test_never_holds_on_to_a_heavy_tree() -> None:
    """Its memory would be charged to the next shell."""
    leftover = Leftover()
    leftover.keep(Path("/proc"))
    leftover.keep(Path("/"))
    assert not leftover.there


def test_thrown_away_trees_are_taken_apart_while_nobody_waits() -> None:
    sandbox = open_sandbox("local")
    assert isinstance(sandbox, LocalSandbox)
    task = Task(id="leftover", instruction="")
    descriptors = Path(f"/proc/{sandbox._hello['pid']}/fd")
    try:
        for _ in range(5):
            sandbox.start(task).step(b"echo x > f", timeout=10)
        if not sandbox._facts["snapshot"].startswith("overlay"):
            missing = sandbox.capabilities()["missing"]
            assert isinstance(missing, dict)
            pytest.skip(f"no snapshot is mounted anew at each start here: {missing['snapshot overlay']}")
        end = time.monotonic() + 20
        # A tree that is mounted nowhere any more shows as "/", and so does the root of the spare shell.
        while [_link(entry) for entry in descriptors.iterdir()].count("/") > 1:
            assert time.monotonic() < end
    finally:
        sandbox.close()


def _link(entry: Path) -> str:
    try:
        return os.readlink(entry)
    except OSError:
        return ""  # closed meanwhile
