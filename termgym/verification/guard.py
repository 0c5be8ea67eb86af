"""Guard: what of the agent's changes a verifier is not shown, because it would be run in the place of a program of the
image's. Whatever else the agent made stays: that is what the verifier is there to judge.

It is decided from outside and before anything runs, by what changed and where; the agent cannot take part in it. What
is put back or hidden is told (``info["verifier"]["put_back"]``). The trade-off: docs/explanation/verification.md.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import NamedTuple

from termgym.snapshot.change import Change, ChangeKind
from termgym.verification import modules, programs
from termgym.verification.scene import Scene

_QUIET = (ChangeKind.MTIME, ChangeKind.LINK)
"""Neither changes what a program does: a hard link to a file that was written to is a change of content too."""


class Guarded(NamedTuple):
    """What a verifier sees otherwise than the agent left it."""

    put_back: tuple[str, ...]
    """Shown as the image has them, with all that lies in them where the agent removed or replaced them."""
    hidden: tuple[str, ...]
    """Not shown, with all that lies in them."""

    @property
    def told(self) -> tuple[str, ...]:
        """Both, for ``info``; bytecode that Python wrote beside the image's own sources is no news."""
        loud = (path for path in self.hidden if "/__pycache__" not in path)
        return tuple(sorted((*self.put_back, *loud)))


def guard(changes: Sequence[Change], scene: Scene) -> Guarded:
    """Return what is put back and what is hidden, given what differs from the image."""
    put_back: list[str] = []
    hidden: list[str] = []
    replaced: set[str] = set()  # what the image has there is gone, with all that lay in it
    settled: set[str] = set()  # with everything below
    for change in sorted(changes):
        path, kind = change.path, change.kind
        if kind in (ChangeKind.REMOVED, ChangeKind.TYPE):
            replaced.add(path)
        if kind in _QUIET or _above(path, settled) or put_back[-1:] == [path]:
            continue
        if kind is ChangeKind.ADDED:
            if planted(path, scene) or (change.after == "symlink" and modules.leads_elsewhere(path, scene)):
                hidden.append(path)
                settled.add(path)
        elif kept(path, scene):
            # The way there must be the image's too: it could lead anywhere.
            place = _above(path, replaced) or path
            put_back.append(place)
            if place in replaced:
                settled.add(place)
    return Guarded(tuple(put_back), tuple(hidden))


def kept(path: str, scene: Scene) -> bool:
    """Return whether the image's version of a path is what the verifier must see."""
    if path == programs.CACHE:
        return programs.cache_misleads(scene.read(path), scene.tree.read(path))
    if not (programs.guarded(path, scene) or modules.guarded(path, scene)):
        return False
    if programs.is_startup(path, scene.home) and scene.word(path.rpartition("/")[2]):
        return False
    return not scene.asked_for(path)


def planted(path: str, scene: Scene) -> bool:
    """Return whether a new path must not be seen by the verifier."""
    if path == programs.CACHE or not (programs.planted(path, scene) or modules.planted(path, scene)):
        return False
    if programs.is_startup(path, scene.home) and scene.word(path.rpartition("/")[2]):
        return False
    return not scene.deliverable(path)


def _above(path: str, places: Set[str]) -> str | None:
    """Return the outermost directory above ``path`` that is among ``places``."""
    if not places:
        return None
    parts = path.split("/")
    return next((above for end in range(2, len(parts)) if (above := "/".join(parts[:end])) in places), None)
