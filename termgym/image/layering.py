"""A layer in the making: entries put where overlayfs will show them over the layers below."""

from __future__ import annotations

import os
import posixpath
import stat
from pathlib import Path

from termgym.image.context import Entry
from termgym.image.making import make_directory
from termgym.image.tree import Found, Tree
from termgym.sandbox.environment import EPOCH
from termgym.snapshot.copying import copy_bytes

_SHOWN_MARKS = "overlay."
ROOT = (0, 0)


class Misplaced(ValueError):
    """Something cannot be where it was to go; says why."""


class Layer:
    """What one step adds to an image."""

    def __init__(self, root: Path, below: Tree, *, may_give: bool) -> None:
        self.root = root
        self.below = below
        self._may_give = may_give
        self.ungiven = False
        """Whether something should belong to another user, and this user cannot give it away."""
        self._made = {"/"}
        """Directories of the layer. Whatever else is in it may be a link, and lead to the host's files."""
        make_directory(root)

    def directory(self, path: str, owner: tuple[int, int] = ROOT, mode: int = 0o755) -> Path:
        """Return a directory of the layer, made with those above it; those of the image keep how they look.

        Args:
            path: absolute, in the image, without symbolic links.
            owner: of what is new.
            mode: of what is new.
        """
        place = self.root / path.lstrip("/")
        if path in self._made:
            return place
        self.directory(posixpath.dirname(path), owner, mode)
        there = self.below.find(path, follow=False)
        if os.path.lexists(place) or (there and not there.is_directory):
            raise Misplaced(f"{path} is no directory in the image")
        place.mkdir()
        self._made.add(path)
        if there is None:
            place.chmod(mode)
            self._give(place, owner)
            return place
        self._give(place, (there.status.st_uid, there.status.st_gid), there)
        place.chmod(stat.S_IMODE(there.status.st_mode))
        return place

    def put(
        self, path: str, entry: Entry, owner: tuple[int, int], mode: int | None = None, *, dated: bool = False
    ) -> None:
        """Put a copy of an entry at a path; in a directory that is there more may come to lie.

        Args:
            path: absolute, in the image, its parents without symbolic links.
            entry: what is copied.
            owner: who it will belong to.
            mode: permission bits; None: those of the entry.
            dated: whether it keeps its modification time and its file capabilities.
        """
        parent = self.directory(posixpath.dirname(path), owner)
        place = parent / posixpath.basename(path)
        there = self.below.find(path, follow=False)
        is_new = not os.path.lexists(place) and there is None
        if entry.found.is_directory:
            self.directory(path, owner)
            if is_new or entry.place:
                self._give(place, owner)
                place.chmod(stat.S_IMODE(entry.found.status.st_mode) if mode is None else mode)
            return
        if path in self._made or (there and there.is_directory):
            raise Misplaced(f"{path} is a directory in the image, and {entry.found.path} is none")
        place.unlink(missing_ok=True)
        self._copy(entry.found, place, owner, mode)
        moment = entry.found.status.st_mtime_ns if dated else EPOCH * 10**9
        os.utime(place, ns=(moment, moment), follow_symlinks=False)

    def finish(self) -> None:
        """Give every directory the same time, for entries came into it."""
        for place, _, _ in os.walk(self.root):
            os.utime(place, (EPOCH, EPOCH))

    def _copy(self, found: Found, place: Path, owner: tuple[int, int], mode: int | None) -> None:
        if found.is_link:
            place.symlink_to(os.readlink(found.sources[0]))
            self._give(place, owner)
            return
        place.touch()
        with open(found.sources[0], "rb") as anything:  # both paths are absolute: the directory does not matter
            copy_bytes(anything.fileno(), os.fsencode(found.sources[0]), anything.fileno(), os.fsencode(place))
        self._give(place, owner, found)
        place.chmod(stat.S_IMODE(found.status.st_mode) if mode is None else mode)

    def _give(self, place: Path, owner: tuple[int, int], like: Found | None = None) -> None:
        if self._may_give:
            os.chown(place, *owner, follow_symlinks=False)
        elif owner != ROOT:
            self.ungiven = True
        if like is not None and self._may_give:
            for name in os.listxattr(like.sources[0], follow_symlinks=False):
                if _SHOWN_MARKS not in name:
                    os.setxattr(place, name, os.getxattr(like.sources[0], name))
