"""Copies that nothing but inode numbers and change times tells from the original."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from toys.isolation import roles_here, run_as
from toys.trees import add_socket, build, facts

from termgym.errors import SnapshotError
from termgym.snapshot import copy_tree, freeze_times


def copied(scratch: Path) -> None:
    source = scratch / "tree"
    build(source)
    add_socket(source / "srv" / "socket")
    before = facts(source)
    copy_tree(source, scratch / "copy")
    assert facts(scratch / "copy") == before == facts(source)
    sparse = scratch / "copy" / "home" / "agent" / "sparse"
    assert sparse.stat().st_blocks == (source / "home" / "agent" / "sparse").stat().st_blocks, "holes were filled"


@pytest.mark.parametrize("role", roles_here())
def test_copies_everything(role: str) -> None:
    """A base tree is a copy of a fixture; what the copy loses, the agent's world never had."""
    run_as(role, copied)


def owned(scratch: Path) -> None:
    build(scratch / "tree")
    copy_tree(scratch / "tree", scratch / "copy", owner=(1000, 1000))
    now = facts(scratch / "copy")
    assert {fact.owner for fact in now.values()} == {(1000, 1000)}
    assert {path: fact._replace(owner=(0, 0)) for path, fact in now.items()} == facts(scratch / "tree")


@pytest.mark.root
def test_gives_all_to_one_owner() -> None:
    """The supervisor builds as root what the agent shall own."""
    run_as("root", owned)


def frozen(scratch: Path) -> None:
    build(scratch / "tree")
    before = facts(scratch / "tree")
    freeze_times(scratch / "tree", 1_700_000_000)
    after = facts(scratch / "tree")
    assert {fact.mtime_ns for fact in after.values()} == {1_700_000_000 * 10**9}
    assert after == {path: fact._replace(mtime_ns=1_700_000_000 * 10**9) for path, fact in before.items()}


@pytest.mark.parametrize("role", roles_here())
def test_freezes_every_time_and_nothing_else(role: str) -> None:
    """``ls -l`` is part of what an agent sees, so a world's times must not tell when it was built."""
    run_as(role, frozen)


def test_refuses_to_copy_over_something(tmp_path: Path) -> None:
    """A copy that mixes with what was there is no copy."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "there").touch()
    with pytest.raises(SnapshotError, match="not empty"):
        copy_tree(tmp_path / "a", tmp_path / "b")


def copy_of_another_user(scratch: Path) -> str:
    with pytest.raises(SnapshotError) as caught:
        copy_tree(Path("/usr/share/doc/bash"), scratch / "copy")
    copy_tree(Path("/usr/share/doc/bash"), scratch / "mine", owner=(os.getuid(), os.getgid()))
    assert os.listdir(scratch / "mine")
    return str(caught.value)


def test_says_how_to_copy_what_belongs_to_another() -> None:
    """An ordinary user cannot give files away; the way out is in the message."""
    message = run_as("plain", copy_of_another_user)
    assert "Operation not permitted" in message
    assert "owner=" in message
