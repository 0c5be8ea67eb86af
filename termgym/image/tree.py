"""Tree: an image's files as its layers show them together, looked up without mounting anything."""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from termgym.image.hostbase import HOST
from termgym.image.marks import is_opaque, is_whiteout

_MOST_LINKS = 40  # path_resolution(7)


@dataclass(frozen=True, slots=True)
class Found:
    """An entry of an image."""

    path: str
    """Where it is in the image, without symbolic links on the way."""
    sources: tuple[str, ...]
    """Where it is on the host: one place, or those that a directory is merged from, topmost first."""
    status: os.stat_result

    @property
    def is_directory(self) -> bool:
        """Whether other entries may be in it."""
        return stat.S_ISDIR(self.status.st_mode)

    @property
    def is_link(self) -> bool:
        """Whether it is a symbolic link."""
        return stat.S_ISLNK(self.status.st_mode)


class Tree:
    """The files of some layers."""

    def __init__(self, layers: Sequence[str | Path], prefix: str) -> None:
        shown = [str(layer) for layer in layers]
        self._prefix = prefix
        self._host = HOST in shown[:1]
        roots = tuple(layer for layer in reversed(shown) if layer != HOST)
        self._root = Found("/", roots, os.stat(roots[0])) if roots else None

    def find(self, path: str, *, follow: bool = True) -> Found | None:
        """Return what a path leads to, or None if nothing is there.

        Args:
            path: absolute; ``..`` does not lead out of the image.
            follow: whether to go on where the last name is a symbolic link; those before it are always followed.
        """
        there = self._walk(path, follow)
        return there if isinstance(there, Found) else None

    def resolve(self, path: str) -> str:
        """Return a path without symbolic links, as far as it exists; what does not is kept as it is."""
        there = self._walk(path, follow=True)
        return there.path if isinstance(there, Found) else there

    def read(self, path: str) -> bytes | None:
        """Return the content of a regular file, or None if there is none."""
        found = self.find(path)
        if found is None or not stat.S_ISREG(found.status.st_mode):
            return None
        return Path(found.sources[0]).read_bytes()

    def children(self, directory: Found) -> Iterator[Found]:
        """Yield what is in a directory, sorted by name."""
        names: set[str] = set()
        for source in directory.sources:
            names.update(os.listdir(source))
        for name in sorted(names):
            child = self._child(directory, name)
            if child is not None:
                yield child

    def _walk(self, path: str, follow: bool) -> Found | str:
        """Return what is there, or where it would be."""
        if self._root is None:
            return posixpath.normpath(f"/{path.lstrip('/')}")
        above = [self._root]
        left = _parts(path)
        links = 0
        while left:
            name = left.pop(0)
            if name == "..":
                above = above[:-1] or above
                continue
            there = self._child(above[-1], name) if above[-1].is_directory else None
            if there is None:
                return posixpath.normpath("/".join([above[-1].path.rstrip("/"), name, *left]))
            if there.is_link and (follow or left):
                links += 1
                target = os.readlink(there.sources[0])
                if links > _MOST_LINKS:
                    return there.path
                above = above[:1] if target.startswith("/") else above
                left = _parts(target) + left
                continue
            above.append(there)
        return above[-1]

    def _child(self, directory: Found, name: str) -> Found | None:
        """Return the entry of a directory of that name, merged as overlayfs does it."""
        path = f"{directory.path.rstrip('/')}/{name}"
        merged: list[str] = []
        top: os.stat_result | None = None
        places = [f"{source}/{name}" for source in directory.sources]
        if self._host and path == HOST:
            places.append(HOST)
        for place in places:
            try:
                status = os.lstat(place)
            except (FileNotFoundError, NotADirectoryError):
                continue
            if is_whiteout(status):
                break
            if not stat.S_ISDIR(status.st_mode):
                return Found(path, (place,), status) if top is None else Found(path, tuple(merged), top)
            top = top or status
            merged.append(place)
            if is_opaque(place, self._prefix):
                break
        return None if top is None else Found(path, tuple(merged), top)


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]
