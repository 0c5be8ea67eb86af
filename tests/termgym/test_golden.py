"""The promise everything leans on: same task, seed and actions, same observations and same final state."""

from __future__ import annotations

import json
import os

import pytest
from golden_trajectories import FILE, measure, tools
from machines import python_on


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_golden_digests_of_this_version_hold() -> None:
    """On the tools they were recorded with they are compared with the record; elsewhere with a second run."""
    recorded = json.loads(FILE.read_text())
    now = measure()
    assert now.keys() == recorded["digests"].keys()
    expected = recorded["digests"] if tools() == recorded["tools"] else measure()
    moved = sorted(name for name in now if now[name] != expected[name])
    assert moved == [], f"these trajectories are not what they were: {moved}"


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.nightly)])
def test_root_and_ordinary_user_see_the_same(every: int) -> None:
    """Who runs the sandbox must not show in what the agent sees or leaves."""
    if os.getuid() != 0:
        assert tools()  # an ordinary user cannot become root: the comparison is made where root runs the tests
        return
    code = (
        f"import sys; sys.path.append({str(FILE.parent)!r}); "
        f"from golden_trajectories import measure; print(measure({every}))"
    )
    own, other = python_on(code, timeout=400), python_on(code, user=True, timeout=400)
    assert own.returncode == other.returncode == 0, own.stderr + other.stderr
    first, second = eval(own.stdout), eval(other.stdout)
    assert len(first) > 20
    assert sorted(name for name in first if first[name] != second[name]) == []
