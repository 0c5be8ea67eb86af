"""Snapshots by a manifest: an ordinary copy of the tree, and what lstat(2) said about each of its paths.

The change time of a file cannot be set, so whatever happened to it since the manifest was written shows without reading
a byte. Restoring corrects what differs, in place. Needs no privilege and no mount; costs a walk over the whole tree.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from termgym.snapshot.baseline import baseline
from termgym.snapshot.change import Change
from termgym.snapshot.comparison import Side, Touched
from termgym.snapshot.copying import copy_tree, remove_tree
from termgym.snapshot.departure import digester
from termgym.snapshot.diff import changes_in
from termgym.snapshot.keeping import find_copy, keep_copy, load_copy, put_back
from termgym.snapshot.layers import Ground
from termgym.snapshot.owners import plainly
from termgym.snapshot.repair import repair
from termgym.snapshot.unlocking import overrides_modes, unlock, unlocked
from termgym.snapshot.walking import opened, opened_root, split, status_at, walk

Signature = tuple[int, int, int, int, int, int, int, int]

_TICK_NS = 20 * 10**6
"""Two changes closer than this may get the same change time: the kernel's coarse clock ticks every 1 to 10 ms [ns]."""


class ManifestSnapshot:
    """A copy of the base tree that is watched by change times."""

    name = "manifest"

    def __init__(self, base: Path, work: Path, *, ground: Ground | None = None) -> None:
        self._ground = ground
        self.base = base
        self.live = work / "live"
        self._kept = work / "kept"
        self._baseline = baseline(base)
        self._manifest: dict[bytes, Signature] = {}
        self._unsettled: set[bytes] = set()
        """Paths that changed so shortly before they were signed that a later change might not show."""
        copy_tree(base, self.live)
        self._kept.mkdir()
        with self._opened_live() as live:
            for path, signature in _signatures(live.root):
                self._sign(path, signature)

    def restore(self) -> None:
        """Correct what differs from the base."""
        with opened_root(self.live) as root, self._baseline.opened() as source:
            modes = {} if overrides_modes() else unlock(root)
            live, touched = Side(root, modes), self._touched(root)
            for path in modes:
                touched.add(path)
            links = self._baseline.links()
            visited = repair(source, live, links, self._baseline.pairs(source, live, touched))
            with unlocked(self.live, source.modes):  # what is unreadable in the base is so in the live tree again
                for path in visited:
                    self._sign(path, _signature_of(root, path))

    def diff(self) -> tuple[Change, ...]:
        """Return what differs between base and live, sorted."""
        with plainly(self._ground is not None), self._baseline.opened() as before, self._opened_live() as live:
            return changes_in(self._baseline, self._baseline.pairs(before, live, self._touched(live.root)))

    def digest(self) -> str:
        """Return the Merkle digest of the live tree; on an image, that of its departure from it."""
        digest = digester(self._ground, self._baseline)
        with plainly(self._ground is not None), self._baseline.opened() as before, self._opened_live() as live:
            return digest(self._baseline.pairs(before, live, self._touched(live.root)))

    def save(self) -> str:
        """Keep a copy of the live tree."""
        return keep_copy(self.live, self._kept)

    def load(self, token: str) -> None:
        """Correct what differs from the copy that ``save`` kept."""
        load_copy(self.live, find_copy(self._kept, token))

    def aside(self) -> AbstractContextManager[Path]:
        """Yield the live tree, which is put back afterwards."""
        return put_back(self)

    def forget(self, token: str) -> None:
        """Free the copy that ``save`` kept."""
        remove_tree(find_copy(self._kept, token))

    def close(self) -> None:
        """Remove everything but the base; may be called again."""
        for tree in (self.live, self._kept):
            if tree.exists():
                remove_tree(tree)

    @contextmanager
    def _opened_live(self) -> Iterator[Side]:
        with unlocked(self.live) as modes, opened_root(self.live) as root:
            yield Side(root, modes)

    def _touched(self, root: int) -> Touched:
        """Return the paths whose signature is not the one of the manifest, or would not show a change."""
        touched = Touched()
        missing = set(self._manifest)
        for path, signature in _signatures(root):
            missing.discard(path)
            if self._manifest.get(path) != signature:
                touched.add(path)
        for path in missing | self._unsettled:
            touched.add(path)
        return touched

    def _sign(self, path: bytes, signature: Signature | None) -> None:
        """Write down that a path is now as in the base."""
        self._unsettled.discard(path)
        if signature is None:
            self._manifest.pop(path, None)
            return
        self._manifest[path] = signature
        if signature[3] > time.time_ns() - _TICK_NS:
            self._unsettled.add(path)


def _signatures(root: int) -> Iterator[tuple[bytes, Signature]]:
    for path, _, _, status in walk(root):
        yield path, _signature(status)


def _signature_of(root: int, path: bytes) -> Signature | None:
    parent, name = split(path)
    try:
        with opened(root, parent) as directory:
            status = status_at(directory, name or b".")
    except (FileNotFoundError, NotADirectoryError):
        return None
    return None if status is None else _signature(status)


def _signature(status: os.stat_result) -> Signature:
    return (
        status.st_mode,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
        status.st_ino,
        status.st_uid,
        status.st_gid,
        status.st_nlink,
    )
