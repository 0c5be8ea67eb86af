"""A start that fails closes what it has opened."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from machines import python_on

from termgym.sandbox.measuring import ProcMeter, open_meter


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_a_group_that_cannot_be_measured_keeps_no_descriptor(tmp_path: Path) -> None:
    """Its files go with it, one after the other, where it is removed meanwhile."""
    (tmp_path / "memory.peak").write_text("0")
    before = descriptors()
    kinds = ("memory", "cpuacct")
    group = {"directories": dict.fromkeys(kinds, str(tmp_path)), "versions": dict.fromkeys(kinds, 2)}
    assert isinstance(open_meter(group), ProcMeter)
    assert descriptors() == before


STARTS = """
from termgym.sandbox import client
try:
    client.Supervisor("isolated")
except OSError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("lack", "told"),
    [
        ("import sys\nsys.executable = '/nowhere/python'\n", "No such file"),
        (
            "import os, resource\nfree = os.dup(0)\nos.close(free)\n"
            "resource.setrlimit(resource.RLIMIT_NOFILE, (free + 2, 64))\n",
            "Too many",
        ),
    ],
    ids=["no interpreter", "no descriptor"],
)
def test_a_supervisor_that_cannot_be_started_leaves_no_socket(lack: str, told: str) -> None:
    done = python_on("import termgym.sandbox.client\n" + lack + STARTS)
    assert told in done.stdout
    assert done.stderr == ""
