"""Every local sandbox shows the behaviours that ``termgym.sandbox.checks`` promises, whoever runs it."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from machines import python_on

from termgym.sandbox import checks, open_sandbox
from termgym.sandbox.protocol import Sandbox

ALL = (*checks.ALWAYS, *checks.ISOLATED)


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.__name__)
def test_local_sandbox(check: Callable[[Sandbox], None]) -> None:
    sandbox = open_sandbox("local")
    try:
        check(sandbox)
    finally:
        sandbox.close()


@pytest.mark.parametrize("snapshot", ["manifest", "rsync"])
@pytest.mark.parametrize("check", checks.ALWAYS[1:2] + checks.ALWAYS[4:5], ids=lambda check: check.__name__)
def test_local_sandbox_on_other_snapshots(check: Callable[[Sandbox], None], snapshot: str) -> None:
    sandbox = open_sandbox("local", snapshot=snapshot)
    try:
        check(sandbox)
        assert sandbox.capabilities()["snapshot"] == snapshot
    finally:
        sandbox.close()


@pytest.mark.parametrize("check", checks.ALWAYS, ids=lambda check: check.__name__)
def test_unisolated_sandbox(check: Callable[[Sandbox], None]) -> None:
    """``local-unsafe`` isolates nothing, but it must start, restore, kill and report like the others."""
    sandbox = open_sandbox("local-unsafe")
    try:
        check(sandbox)
        assert sandbox.capabilities()["isolation"] == "none"
    finally:
        sandbox.close()


def test_two_sandboxes_do_not_meet() -> None:
    checks.two_do_not_meet(lambda: open_sandbox("local"))


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_local_sandbox_as_an_ordinary_user() -> None:
    """All checks pass in a user namespace too, under the same names."""
    done = python_on(
        """
from termgym.sandbox import open_sandbox
from termgym.sandbox.checks import self_check
for verdict in self_check(lambda: open_sandbox("local")):
    print(verdict.name, verdict.passed, verdict.reason)
print(open_sandbox("local").capabilities()["isolation"])
""",
        user=True,
        timeout=200,
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    assert [line for line in lines[:-1] if " True" not in line] == []
    assert len(lines) == len(ALL) + 2
    assert lines[-1] == "userns"


def test_the_same_initial_state_has_the_same_digest_for_root_and_user() -> None:
    """A golden digest holds whoever runs the sandbox."""
    code = """
from termgym.sandbox import open_sandbox
from termgym.sandbox.checks import _TASK
sandbox = open_sandbox("local")
session = sandbox.start(_TASK)
session.step(b"echo x > new; chmod 600 notes.txt; ln notes.txt hard; ls -la . .. /tmp", timeout=10)
print(sandbox.digest())
sandbox.close()
"""
    own, other = python_on(code), python_on(code, user=os.getuid() == 0)
    assert own.returncode == other.returncode == 0, own.stderr + other.stderr
    assert own.stdout == other.stdout
    assert len(own.stdout.strip()) >= 32
