"""Root filesystems that were made for this machine, by name."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from termgym.errors import ImageError
from termgym.image.store import Store, discard

NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
_ABOUT = "about.json"
_TREE = "tree"


@dataclass(frozen=True, slots=True)
class Root:
    """One root filesystem."""

    name: str
    tree: Path
    identity: str
    """What names its content: the packages and how they came there."""
    about: Mapping[str, object]
    """How it was made."""


def find_root(store: Store, name: str) -> Root | None:
    """Return the root filesystem of that name, or None."""
    place = store.root / "roots" / name
    if not NAME.fullmatch(name) or not (place / _ABOUT).is_file():
        return None
    about = json.loads((place / _ABOUT).read_text())
    return Root(name, place / _TREE, about["identity"], about)


def list_roots(store: Store) -> list[Root]:
    """Return all of them, by name."""
    found = (find_root(store, place.name) for place in sorted((store.root / "roots").iterdir()))
    return [root for root in found if root]


def keep_root(store: Store, name: str, tree: Path, about: Mapping[str, object], identity: str) -> Root:
    """Give a finished tree its name; one of that name is replaced.

    Args:
        store: where.
        name: how it will be called.
        tree: in a scratch directory of the store; the directory that holds it becomes the root's.
        about: how it was made.
        identity: what names its content.
    """
    tree.chmod(0o755)
    (tree.parent / _ABOUT).write_text(json.dumps({**about, "identity": identity}, indent=1))
    if tree.name != _TREE:
        tree.rename(tree.parent / _TREE)
    remove_root(store, name)
    tree.parent.rename(store.root / "roots" / name)
    found = find_root(store, name)
    assert found is not None
    return found


def remove_root(store: Store, name: str) -> bool:
    """Remove a root filesystem; return whether there was one. Images that stand on it are then rebuilt."""
    place = store.root / "roots" / name
    if not NAME.fullmatch(name):
        raise ImageError(f"{name!r} cannot name a root filesystem; allowed are a-z 0-9 . _ -")
    if not place.is_dir():
        return False
    with store.scratch() as room:
        place.rename(room / name)
        discard(room / name)
    return True
