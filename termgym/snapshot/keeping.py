"""Saved trees: copies in a directory, each under its token."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from termgym.errors import SnapshotError
from termgym.snapshot.baseline import Baseline
from termgym.snapshot.comparison import Side, Touched, explore
from termgym.snapshot.copying import copy_tree
from termgym.snapshot.protocol import Snapshot
from termgym.snapshot.repair import repair
from termgym.snapshot.unlocking import overrides_modes, unlock
from termgym.snapshot.walking import opened_root


def keep_copy(live: Path, kept: Path) -> str:
    """Copy a live tree into the directory of saved ones; return its token."""
    token = uuid4().hex
    copy_tree(live, kept / token)
    return token


@contextmanager
def put_back(snapshot: Snapshot) -> Iterator[Path]:
    """Yield the live tree of a snapshot, which is put back afterwards."""
    token = snapshot.save()
    try:
        yield snapshot.live
    finally:
        snapshot.load(token)
        snapshot.forget(token)


def find_copy(kept: Path, token: str) -> Path:
    """Return the directory of a saved tree."""
    have = sorted(path.name for path in kept.iterdir())
    if token not in have:
        raise SnapshotError(f"no saved tree {token!r}; there are {have!r}; save() returns the token")
    return kept / token


def load_copy(live: Path, copy: Path) -> None:
    """Make a live tree equal to a saved one by correcting what differs."""
    saved = Baseline(copy)
    with opened_root(live) as root, saved.opened() as source:
        side = Side(root, {} if overrides_modes() else unlock(root))
        repair(source, side, saved.links(), explore(source, side, Touched.everything()))
