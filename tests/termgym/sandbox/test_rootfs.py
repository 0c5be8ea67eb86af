"""The root that all sandboxes share: nobody can write to it, and nothing in it gives privileges."""

from __future__ import annotations

import pytest

from termgym.sandbox import open_sandbox
from termgym.sandbox.environment import WRITABLE_ROOTS
from termgym.sandbox.protocol import Sandbox
from termgym.tasks.task import Task

_OWN = {f"/{root}" for root in WRITABLE_ROOTS}


@pytest.fixture
def mounts() -> dict[str, set[str]]:
    """Mount point -> options, as the agent sees them."""
    sandbox: Sandbox = open_sandbox("local")
    try:
        shown = sandbox.start(Task(id="root", instruction="")).step(b"cat /proc/self/mountinfo", timeout=10).stdout
    finally:
        sandbox.close()
    rows = [line.split() for line in shown.decode().splitlines()]
    return {row[4]: set(row[5].split(",")) for row in rows}


def test_only_the_agents_own_directories_can_be_written_to(mounts: dict[str, set[str]]) -> None:
    writable = {point for point, options in mounts.items() if "ro" not in options and not point.startswith("/proc")}
    devices = {point for point in writable if point.startswith("/dev/")} - _OWN
    assert writable - devices == _OWN
    assert devices == {"/dev/pts"}


def test_no_file_gives_its_owners_rights(mounts: dict[str, set[str]]) -> None:
    assert {point for point, options in mounts.items() if "nosuid" not in options} == set()


def test_devices_work_only_where_they_belong(mounts: dict[str, set[str]]) -> None:
    """Else one that the agent unpacks or finds would be the machine's."""
    with_devices = {point for point, options in mounts.items() if "nodev" not in options}
    assert with_devices == {f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty", "pts")}
