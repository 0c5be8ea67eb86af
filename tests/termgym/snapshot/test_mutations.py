"""Each backend sees each mutation, exactly as reading everything would, and takes it back."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from toys.isolation import ROLES, roles_here, run_as
from toys.mutations import MUTATIONS
from toys.trees import Facts, build, differences, facts, without_attribute_values

from termgym.snapshot import Change, Snapshot, open_snapshot, tree_digest

IN_MEMORY = [role for role in roles_here() if role != "disk"]


Seen = dict[str, tuple[tuple[Change, ...], str]]
CHUNK = 13  # mutations that share a child process and its snapshots


def mutate(live: Path, names: Sequence[str]) -> None:
    """Apply mutations; one whose target an earlier one took away stops where it is, which is a mutation too."""
    for name in names:
        try:
            MUTATIONS[name].act(live / "home" / "agent")
        except (OSError, subprocess.CalledProcessError):
            if len(names) == 1:
                raise


def possible(role: str) -> list[str]:
    """Return the mutations that a role can do."""
    allowed = {"root": {"any", "caps", "root"}, "user": {"any", "caps"}}.get(role, {"any"})
    return [name for name, mutation in MUTATIONS.items() if mutation.needs in allowed]


def check(scratch: Path, role: str, sequences: Sequence[Sequence[str]]) -> list[Seen]:
    """Try every sequence of mutations under every backend; return what each backend saw of each."""
    base = scratch / "base"
    build(base)
    before = facts(base)
    reported: list[Seen] = [{} for _ in sequences]
    for backend in ROLES[role]:
        work = scratch / backend
        work.mkdir()
        snapshot = open_snapshot(base, work, backend=backend)
        assert snapshot.name == backend
        assert facts(snapshot.live) == before, f"{backend}: the live tree does not start as the base"
        assert (snapshot.diff(), snapshot.digest()) == ((), tree_digest(base))
        for names, seen in zip(sequences, reported, strict=True):
            seen[backend] = check_one(snapshot, before, names)
        snapshot.close()
        assert os.listdir(work) == [], f"{backend}: files left"
        assert f"{work}/" not in Path("/proc/self/mounts").read_text(), f"{backend}: mounts left"
        assert facts(base) == before, f"{backend}: the base changed"
    return reported


def check_one(snapshot: Snapshot, before: dict[bytes, Facts], names: Sequence[str]) -> tuple[tuple[Change, ...], str]:
    """Mutate, compare with the oracle, restore, load, restore again; return diff and digest."""
    case = f"{snapshot.name}, {names}"
    clean = snapshot.digest()
    mutate(snapshot.live, names)
    changes, digest = snapshot.diff(), snapshot.digest()
    token = snapshot.save()
    if snapshot.name == "overlay-userns":  # the kernel shows true inode numbers of new hard links after a mount
        snapshot.load(token)
    after = facts(snapshot.live)
    assert without_attribute_values(changes) == differences(before, after), f"{case}: another diff"
    assert digest == tree_digest(snapshot.live), f"{case}: the digest is not that of the tree"
    snapshot.restore()
    assert facts(snapshot.live) == before, f"{case}: not restored"
    assert (snapshot.diff(), snapshot.digest()) == ((), clean), case
    snapshot.load(token)
    assert facts(snapshot.live) == after, f"{case}: not loaded"
    assert (snapshot.diff(), snapshot.digest()) == (changes, digest), case
    snapshot.forget(token)
    snapshot.restore()
    assert facts(snapshot.live) == before, f"{case}: not restored after a load"
    return changes, digest


def chunks(role: str) -> list[list[str]]:
    names = possible(role)
    return [names[start : start + CHUNK] for start in range(0, len(names), CHUNK)]


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("role", "names"),
    [pytest.param(role, names, id=f"{role}-{names[0]}") for role in IN_MEMORY for names in chunks(role)],
)
def test_every_backend_sees_and_takes_back(role: str, names: list[str]) -> None:
    """A change that a backend misses leaks into the next episode, and into its reward."""
    reported = run_as(role, check, role, [[name] for name in names])
    for name, seen in zip(names, reported, strict=True):
        mutation = MUTATIONS[name]
        kinds = {
            backend: [(change.path, change.kind) for change in changes]
            for backend, (changes, _) in seen.items()
            if not (mutation.parts_links and backend == "overlay-userns")
        }
        assert all(found == kinds["manifest"] for found in kinds.values()), f"{name}: backends differ: {kinds}"
        assert bool(kinds["manifest"]) == mutation.changes, f"{name}: {kinds}"


def test_there_are_forty_kinds() -> None:
    """The property is worth what its mutations cover."""
    assert len(MUTATIONS) >= 40


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("role", roles_here())
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_sequence_is_seen_and_taken_back(role: str, data: st.DataObject) -> None:
    """Mutations meet in one layer: a file renamed, then linked, in a directory that moved, then lost its mode."""
    sequence = st.lists(st.sampled_from(possible(role)), min_size=2, max_size=6)
    run_as(role, check, role, data.draw(st.lists(sequence, min_size=2, max_size=2)))
