"""The context: the files of the host that ``COPY`` may read, and those that .dockerignore takes away from it."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from e2b_dockerfile_utils import PatternMatcher

from termgym.errors import ImageError
from termgym.image.patterns import component_pattern, is_pattern
from termgym.image.tree import Found, Tree

_CHUNK = 1 << 20  # [bytes]
_hashes: dict[tuple[str, int, int, int], bytes] = {}
"""(path, size, mtime in ns, inode) -> SHA-256, for this process."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Something to be copied."""

    place: str
    """Where it goes, relative to the target; empty: the target itself."""
    found: Found

    def describe(self) -> list[object]:
        """Return what tells this entry from another one: no time, no inode, no owner."""
        mode = self.found.status.st_mode
        if self.found.is_link:
            return [self.place, "l", os.readlink(self.found.sources[0])]
        if self.found.is_directory:
            return [self.place, "d", stat.S_IMODE(mode)]
        return [self.place, "f", stat.S_IMODE(mode), content_hash(self.found)]


@dataclass(frozen=True, slots=True)
class Origin:
    """Files that can be copied from: a context, or another stage."""

    tree: Tree
    name: str
    """How errors call it."""
    ignored: PatternMatcher | None = None
    ignore_file: str = field(default="", compare=False)

    def select(self, pattern: str) -> list[tuple[str, Found]]:
        """Return what a path or a pattern with ``*``, ``?`` or ``[…]`` names, sorted: as it is called, what it is."""
        parts = [part for part in pattern.split("/") if part not in ("", ".")]
        there = self.tree.find("/")
        places = [there] if there else []
        for part in parts:
            if is_pattern(part):
                matches = component_pattern(part).fullmatch
                places = [
                    child
                    for place in places
                    if (at := self._entered(place))
                    for child in self.tree.children(at)
                    if matches(child.path.rpartition("/")[2])
                ]
            else:
                found = (self.tree.find(f"{place.path}/{part}", follow=False) for place in places)
                places = [each for each in found if each]
        followed = [(place.path, self._followed(place)) for place in places]
        return [(path, found) for path, found in followed if found and self._is_offered(found)]

    def entries(self, top: Found, excluded: PatternMatcher | None = None) -> Iterator[Entry]:
        """Yield an entry and, in a directory, all that is in it and not ignored; parents come first."""
        pending = [("", top)]
        while pending:
            place, found = pending.pop()
            kept = not place or not (self._is_ignored(found) or _matches(excluded, place))
            if kept and (found.is_directory or found.is_link or stat.S_ISREG(found.status.st_mode)):
                yield Entry(place, found)
            if found.is_directory and (kept or self._may_hold_more(found, place, excluded)):
                children = list(self.tree.children(found))
                pending += [(_join(place, each.path.rpartition("/")[2]), each) for each in reversed(children)]

    def _entered(self, place: Found) -> Found | None:
        found = self._followed(place)
        return found if found and found.is_directory else None

    def _followed(self, place: Found) -> Found | None:
        return self.tree.find(place.path) if place.is_link else place

    def _is_offered(self, found: Found) -> bool:
        return not self._is_ignored(found) or (found.is_directory and self._may_hold_more(found, "", None))

    def _is_ignored(self, found: Found) -> bool:
        return self.ignored is not None and found.path != "/" and self.ignored.matches(found.path[1:])

    def _may_hold_more(self, found: Found, place: str, excluded: PatternMatcher | None) -> bool:
        """Return whether a ``!`` pattern may bring back what lies in a directory that is left out."""
        chosen = [(self.ignored, found.path[1:]), (excluded, place)]
        return all(not matcher or not matcher.matches(at) or matcher.may_match_under(at) for matcher, at in chosen)


def open_context(directory: str, dockerfile: str, prefix: str) -> Origin:
    """Return the context as what may be copied from.

    Raises:
        ImageError: it is no directory, or its .dockerignore cannot be understood.
    """
    if not os.path.isdir(directory):
        raise ImageError(f"the context {directory!r} is no directory; give one, or leave it empty")
    own = Path(f"{dockerfile}.dockerignore")
    ignore = own if own.is_file() else Path(directory, ".dockerignore")
    matcher = None
    if ignore.is_file():
        try:
            matcher = PatternMatcher(ignore.read_text().removeprefix("\ufeff").splitlines())
        except ValueError as error:
            raise ImageError(f"{ignore.name}: {error}; see https://docs.docker.com/build/concepts/context/") from error
    return Origin(Tree([os.path.realpath(directory)], prefix), "the context", matcher, ignore.name if matcher else "")


def total_size(entries: Iterable[Entry]) -> int:
    """Return the size of all files [bytes]."""
    return sum(entry.found.status.st_size for entry in entries if stat.S_ISREG(entry.found.status.st_mode))


def content_hash(found: Found) -> str:
    """Return the SHA-256 of a file, read once for as long as it looks the same."""
    status, path = found.status, found.sources[0]
    key = (path, status.st_size, status.st_mtime_ns, status.st_ino)
    if key not in _hashes:
        known = hashlib.sha256()
        with open(path, "rb", buffering=0) as file:
            while chunk := file.read(_CHUNK):
                known.update(chunk)
        _hashes[key] = known.digest()
    return _hashes[key].hex()


def _matches(matcher: PatternMatcher | None, path: str) -> bool:
    return matcher is not None and matcher.matches(path)


def _join(place: str, name: str) -> str:
    return f"{place}/{name}" if place else name
