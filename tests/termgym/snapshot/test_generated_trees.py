"""Each backend reports of generated trees and mutations what the mutations say of themselves, and takes it back.

What is expected here was never read from a disk: `rolf.strategies.mutations` foresees it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from toys.isolation import ROLES, roles_here, run_as

from rolf.strategies import Edits, HardLink, Link, Rename, changes, file_trees, mutations, read_tree
from termgym.snapshot import open_snapshot

SEVERAL = st.lists(file_trees(max_size=8).flatmap(mutations), min_size=4, max_size=4)
"""Trees that share a child process."""


def check(scratch: Path, role: str, cases: Sequence[Edits]) -> None:
    """Try every tree under every backend of a role."""
    for number, edits in enumerate(cases):
        for backend in ROLES[role]:
            if backend != "overlay-userns" or not parts_links(edits):
                check_one(scratch / f"{number}-{backend}", backend, edits)


def parts_links(edits: Edits) -> bool:
    """Return whether a copy-up that parts hard links, and moves no directory, would show."""
    linked = any(isinstance(entry, HardLink) for entry in edits.before.entries.values())
    moved = any(isinstance(each, Rename | Link) for each in edits.mutations)
    return linked or moved


def check_one(scratch: Path, backend: str, edits: Edits) -> None:
    base, work = scratch / "base", scratch / "work"
    edits.before.write(base)
    work.mkdir()
    assert changes(edits.before, read_tree(base)) == (), "the tree on disk is not the tree"
    snapshot = open_snapshot(base, work, backend=backend)
    edits.apply(snapshot.live)
    reported = [(change.path.removeprefix("/"), str(change.kind)) for change in snapshot.diff()]
    assert sorted(reported) == [(change.path, change.kind) for change in edits.changes], f"{backend}: {edits}"
    assert changes(edits.after, read_tree(snapshot.live)) == (), f"{backend}: {edits}"
    snapshot.restore()
    assert snapshot.diff() == ()
    assert changes(edits.before, read_tree(snapshot.live)) == (), f"{backend}, not restored: {edits}"
    snapshot.close()
    assert changes(edits.before, read_tree(base)) == (), f"{backend}: the base has changed"


def limits(examples: int) -> settings:
    return settings(
        max_examples=examples,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
    )


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("role", roles_here())
@limits(6)
@given(cases=SEVERAL)
def test_what_is_foreseen_is_reported(role: str, cases: Sequence[Edits]) -> None:
    run_as(role, check, role, cases)


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("role", roles_here())
@limits(250)
@given(cases=SEVERAL)
def test_what_is_foreseen_is_reported_of_thousands(role: str, cases: Sequence[Edits]) -> None:
    run_as(role, check, role, cases)
