"""Each backend sees each mutation, exactly as reading everything would, and takes it back."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from toys.isolation import ROLES, roles_here, run_as
from toys.mutations import MUTATIONS
from toys.trees import build, differences, facts, without_attribute_values

from termgym.snapshot import open_snapshot, tree_digest


def mutate(live: Path, names: Iterable[str]) -> list[str]:
    """Apply mutations; one whose target an earlier one took away stops where it is, which is a mutation too."""
    done = []
    for name in names:
        try:
            MUTATIONS[name].act(live / "home" / "agent")
            done.append(name)
        except OSError:
            if len(list(names)) == 1:
                raise
    return done


def possible(role: str) -> list[str]:
    """Return the mutations that a role can do."""
    allowed = {"root": {"any", "caps", "root"}, "user": {"any", "caps"}, "plain": {"any"}, "disk": {"any"}}[role]
    return [name for name, mutation in MUTATIONS.items() if mutation.needs in allowed]


def check(scratch: Path, role: str, names: list[str]) -> dict[str, Any]:
    """Mutate under every backend, compare with the oracle, restore, load, restore again; return what each reported."""
    base = scratch / "base"
    build(base)
    before, base_digest = facts(base), tree_digest(base)
    reported = {}
    for backend in ROLES[role]:
        work = scratch / backend
        work.mkdir()
        mounts = Path("/proc/self/mounts").read_text()
        snapshot = open_snapshot(base, work, backend=backend)
        assert snapshot.name == backend
        assert facts(snapshot.live) == before, f"{backend}: the live tree does not start as the base"
        assert snapshot.diff() == ()
        assert snapshot.digest() == base_digest
        mutate(snapshot.live, names)
        changes, digest = snapshot.diff(), snapshot.digest()
        if backend == "overlay-userns":  # the kernel shows true inode numbers of new hard links after a mount
            snapshot.load(snapshot.save())
        after = facts(snapshot.live)
        assert without_attribute_values(changes) == differences(before, after), f"{backend}: another diff"
        assert digest == tree_digest(snapshot.live), f"{backend}: the digest is not that of the tree"
        token = snapshot.save()
        snapshot.restore()
        assert facts(snapshot.live) == before, f"{backend}: not restored"
        assert (snapshot.diff(), snapshot.digest()) == ((), base_digest)
        snapshot.load(token)
        assert facts(snapshot.live) == after, f"{backend}: not loaded"
        assert (snapshot.diff(), snapshot.digest()) == (changes, digest)
        snapshot.restore()
        assert facts(snapshot.live) == before
        snapshot.forget(token)
        snapshot.close()
        assert os.listdir(work) == [], f"{backend}: files left"
        assert Path("/proc/self/mounts").read_text() == mounts, f"{backend}: mounts left"
        assert facts(base) == before, f"{backend}: the base changed"
        reported[backend] = tuple(changes), digest
    return reported


@pytest.mark.parametrize(
    ("role", "name"), [(role, name) for role in roles_here() if role != "disk" for name in possible(role)]
)
def test_every_backend_sees_and_takes_back(role: str, name: str) -> None:
    """A change that a backend misses leaks into the next episode, and into its reward."""
    reported = run_as(role, check, role, [name])
    mutation = MUTATIONS[name]
    comparable = {
        backend: changes
        for backend, (changes, _) in reported.items()
        if not (mutation.parts_links and backend == "overlay-userns")
    }
    kinds = {tuple((c.path, c.kind) for c in changes) for changes in comparable.values()}
    assert len(kinds) == 1, f"backends differ: {comparable}"
    assert any(kinds) == mutation.changes


def test_there_are_forty_kinds() -> None:
    """The property is worth what its mutations cover."""
    assert len(MUTATIONS) >= 40


@pytest.mark.parametrize("role", roles_here())
@settings(max_examples=10, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_sequence_is_seen_and_taken_back(role: str, data: st.DataObject) -> None:
    """Mutations meet in one layer: a file renamed, then linked, in a directory that moved, then lost its mode."""
    names = data.draw(st.lists(st.sampled_from(possible(role)), min_size=2, max_size=6))
    run_as(role, check, role, names)
