"""Two trees side by side, looking only where something may differ."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import NamedTuple

from termgym.snapshot.walking import handle, join, names_in, open_directory, split, status_at

REMEMBERED_PATHS = 4096
"""Of a tree that never changes: agents come back to the same few, episode after episode."""
_SHORT = 3800  # bytes of a path that still leave room for a name under PATH_MAX


class Status(NamedTuple):
    """The facts of lstat(2) that comparisons use."""

    mode: int
    uid: int
    gid: int
    size: int
    mtime_ns: int
    nlink: int
    inode: tuple[int, int]
    rdev: int

    @property
    def is_directory(self) -> bool:
        """Whether it is a directory."""
        return stat.S_ISDIR(self.mode)

    @property
    def is_linked(self) -> bool:
        """Whether other names may be the same file."""
        return self.nlink > 1 and not stat.S_ISDIR(self.mode)


def status_of(found: os.stat_result, mode: int | None = None) -> Status:
    """Return the facts of a stat result, with another mode if one is given."""
    return Status(
        found.st_mode if mode is None else mode,
        found.st_uid,
        found.st_gid,
        found.st_size,
        found.st_mtime_ns,
        found.st_nlink,
        (found.st_dev, found.st_ino),
        found.st_rdev,
    )


@dataclass(slots=True)
class Touched:
    """Where a live tree may differ from another one; everything else is known to be equal."""

    named: dict[bytes, set[bytes]] = field(default_factory=dict)
    """Directory -> names in it that are worth a look."""
    whole: set[bytes] = field(default_factory=set)
    """Paths beneath which everything is worth a look."""
    same_bytes: set[bytes] = field(default_factory=set)
    """Files whose content is known to be equal, whatever else changed."""

    @classmethod
    def everything(cls) -> Touched:
        """Return the mark that nothing is known."""
        return cls(whole={b""})

    def add(self, path: bytes) -> None:
        """Mark one path, and the way to it."""
        while path:
            parent, name = split(path)
            names = self.named.setdefault(parent, set())
            if name in names:
                return
            names.add(name)
            path = parent


@dataclass(slots=True)
class Side:
    """One of the two trees."""

    root: int
    """Descriptor of its root directory."""
    modes: Mapping[bytes, int] = field(default_factory=dict)
    """Modes as they were before paths had to be made readable."""
    inodes: Mapping[bytes, tuple[int, int]] = field(default_factory=dict)
    """Inodes of linked files, where lstat(2) does not tell the truth about them."""

    path: bytes = b""
    """Absolute path of the root; empty where it is not known."""
    known: dict[bytes, Status | None] | None = None
    """What was found before, of a tree that never changes."""

    def handle(self, path: bytes) -> bytes:
        """Return one path to a place in the tree, for calls that take no descriptor."""
        if self.path and len(self.path) + len(path) < _SHORT:
            return self.path + b"/" + path
        return handle(self.root, path)

    def status(self, place: Place, path: bytes) -> Status | None:
        """Return the status of a place in the tree, or None if nothing is there."""
        if self.known is None:
            return self._look(place, path)
        if path in self.known:
            return self.known[path]
        status = self._look(place, path)
        if len(self.known) < REMEMBERED_PATHS:
            self.known[path] = status
        return status

    def _look(self, place: Place, path: bytes) -> Status | None:
        found = status_at(place.directory, place.name)
        if found is None:
            return None
        status = status_of(found, self.modes.get(path))
        return status._replace(inode=self.inodes[path]) if path in self.inodes else status


class Place(NamedTuple):
    """Where one path lies; good only until the next pair is asked for."""

    directory: int
    """Descriptor that ``name`` is relative to; -1 if nothing is there."""
    name: bytes
    handle: bytes
    """The same place as one path, for the calls that take no descriptor."""


class Pair(NamedTuple):
    """One path in both trees."""

    path: bytes
    """Relative to the roots."""
    name: bytes
    before: Status | None
    after: Status | None
    old: Place
    new: Place
    complete: bool
    """Everything beneath this path is visited, in both trees."""
    same_bytes: bool


_NOWHERE = Place(-1, b"", b"")


def explore(before: Side, after: Side, touched: Touched) -> Iterator[Pair]:
    """Yield every touched path that is in one of the trees, a directory before its entries."""
    whole = b"" in touched.whole
    old, new = (Place(side.root, b".", side.handle(b".")) for side in (before, after))
    yield Pair(b"", b".", before.status(old, b""), after.status(new, b""), old, new, whole, False)
    pending = [(b"", True, True, whole)]
    while pending:
        path, in_before, in_after, whole = pending.pop()
        # One path lookup is cheaper than opening a directory, unless all of the directory is wanted.
        if not whole and len(path) < _SHORT:
            visits = _visit(before, after, touched, path, in_before, in_after)
        else:
            visits = _visit_opened(before, after, touched, path, in_before, in_after, whole)
        for pair in visits:
            yield pair
            descent = _descent(pair, touched)
            if descent is not None:
                pending.append(descent)


def _visit(before: Side, after: Side, touched: Touched, path: bytes, in_before: bool, in_after: bool) -> Iterator[Pair]:
    """Yield the touched entries of a directory by their paths from the roots."""
    for name in touched.named.get(path, ()):
        at = join(path, name)
        old = Place(before.root, at, before.handle(at)) if in_before else _NOWHERE
        new = Place(after.root, at, after.handle(at)) if in_after else _NOWHERE
        pair = _pair(before, after, touched, at, name, old, new, False)
        if pair is not None:
            yield pair


def _visit_opened(
    before: Side, after: Side, touched: Touched, path: bytes, in_before: bool, in_after: bool, whole: bool
) -> Iterator[Pair]:
    """Yield the entries of a directory by their names in it."""
    with ExitStack() as stack:
        old = _enter(stack, before, path) if in_before else -1
        new = _enter(stack, after, path) if in_after else -1
        names = touched.named.get(path, set())
        if whole:
            names = {name for directory in (old, new) if directory >= 0 for name in names_in(directory)}
        for name in names:
            was, now = (_place_in(directory, name) for directory in (old, new))
            pair = _pair(before, after, touched, join(path, name), name, was, now, whole)
            if pair is not None:
                yield pair


def _place_in(directory: int, name: bytes) -> Place:
    return Place(directory, name, handle(directory, name)) if directory >= 0 else _NOWHERE


def _enter(stack: ExitStack, side: Side, path: bytes) -> int:
    """Open a directory until the stack closes; -1 if it vanished since it was listed."""
    try:
        descriptor = open_directory(side.root, path)
    except (FileNotFoundError, NotADirectoryError):
        return -1
    stack.callback(os.close, descriptor)
    return descriptor


def _pair(
    before: Side, after: Side, touched: Touched, path: bytes, name: bytes, old: Place, new: Place, whole: bool
) -> Pair | None:
    was = before.status(old, path) if old.directory >= 0 else None
    now = after.status(new, path) if new.directory >= 0 else None
    if was is None and now is None:
        return None
    one_sided = not (was and was.is_directory and now and now.is_directory)
    complete = whole or one_sided or path in touched.whole
    return Pair(path, name, was, now, old, new, complete, path in touched.same_bytes)


def _descent(pair: Pair, touched: Touched) -> tuple[bytes, bool, bool, bool] | None:
    """Return what to visit beneath a pair, or None."""
    was = pair.before is not None and pair.before.is_directory
    now = pair.after is not None and pair.after.is_directory
    if not (was or now) or not (pair.complete or pair.path in touched.named):
        return None
    return pair.path, was, now, pair.complete
