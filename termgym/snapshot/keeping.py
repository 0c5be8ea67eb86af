"""Saved trees: copies in a directory, each under its token."""

from __future__ import annotations

from pathlib import Path

from termgym.errors import SnapshotError
from termgym.snapshot.baseline import Baseline
from termgym.snapshot.comparison import Side, Touched, explore
from termgym.snapshot.repair import repair
from termgym.snapshot.unlocking import overrides_modes, unlock
from termgym.snapshot.walking import opened_root


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
