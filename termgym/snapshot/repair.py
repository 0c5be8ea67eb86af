"""Make a live tree equal to another one by touching only what differs, in place where that is right.

Writing into the file that is there costs a hundredth of removing and making it anew on a disk that discards freed
blocks, but only a file with the right names may be written to: a wrong hard link would carry the bytes elsewhere.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from termgym.errors import SnapshotError
from termgym.snapshot.comparison import Pair, Side, Status
from termgym.snapshot.copying import copy_attributes, copy_bytes, copy_entry, link, set_owner, set_times
from termgym.snapshot.entry import attributes, content_digest, is_visible, link_target
from termgym.snapshot.flags import clear_flags
from termgym.snapshot.links import Group, Links, links_among
from termgym.snapshot.unlocking import overrides_modes
from termgym.snapshot.walking import opened, split


def repair(source: Side, live: Side, links: Links, pairs: Iterable[Pair]) -> list[bytes]:
    """Make the live tree equal to the source in all visited pairs; return the visited paths.

    Args:
        source: the tree to be like.
        live: the tree to change, readable and writable by now; its ``modes`` say what it was before.
        links: the hard links of the source.
        pairs: what may differ between the two.

    Raises:
        SnapshotError: something could not be put back; says which path.
    """
    work = _Repair(source, live, links)
    work.plan(pairs)
    for path, step in work.steps():
        try:
            step(path)
        except OSError as error:
            raise SnapshotError(f"cannot put {'/' + os.fsdecode(path)!r} back: {error}") from error
    return list(work.visited)


@dataclass(slots=True)
class _Repair:
    """What has to be done, each table in the order of the visit: parents before entries."""

    source: Side
    live: Side
    links: Links
    visited: dict[bytes, None] = field(default_factory=dict)
    superfluous: dict[bytes, bool] = field(default_factory=dict)
    """Path in the live tree -> whether it is a directory."""
    missing: dict[bytes, None] = field(default_factory=dict)
    wrong: dict[bytes, bool] = field(default_factory=dict)
    """File that keeps its inode -> whether its bytes have to be written."""
    directories: dict[bytes, None] = field(default_factory=dict)
    first_names: dict[Group, bytes] = field(default_factory=dict)
    """Group of hard links -> the name that was made first."""

    def steps(self) -> Iterator[tuple[bytes, Callable[[bytes], None]]]:
        """Yield what to do, in the order that works: entries go before their directory, and come after it."""
        yield from ((path, self._remove) for path in reversed(self.superfluous))
        yield from ((path, self._build) for path in self.missing)
        yield from ((path, self._correct) for path in self.wrong)
        yield from ((path, self._finish) for path in reversed(self.directories))

    def plan(self, pairs: Iterable[Pair]) -> None:
        """Look at the pairs and fill the tables."""
        alike: list[tuple[bytes, bool, bool]] = []
        linked = []
        for pair in pairs:
            path, before, after = pair.path, pair.before, pair.after
            self.visited[path] = None
            if after is not None:
                clear_flags(pair.new.directory, pair.new.name, after.mode)
                if after.is_linked:
                    linked.append((path, after.inode))
            if before is not None and before.is_directory:
                self.directories[path] = None
            if before is None or after is None or stat.S_IFMT(before.mode) != stat.S_IFMT(after.mode):
                self._replace(path, before, after)
            elif not after.is_directory:
                same_rest = path not in self.live.modes and _same_metadata(pair, before, after)
                alike.append((path, _same_content(pair, before, after), same_rest))
                if not (alike[-1][1] or stat.S_ISREG(after.mode)):  # only bytes of files can be corrected in place
                    self._replace(path, before, after)
        groups = links_among(linked)
        for path, same_content, same_rest in alike:
            if self.links.group(path) != groups.group(path):
                self.superfluous[path], self.missing[path] = False, None
            elif path not in self.missing and not (same_content and same_rest):
                self.wrong[path] = not same_content

    def _replace(self, path: bytes, before: Status | None, after: Status | None) -> None:
        if after is not None:
            self.superfluous[path] = after.is_directory
        if before is not None:
            self.missing[path] = None

    def _remove(self, path: bytes) -> None:
        parent, name = split(path)
        with opened(self.live.root, parent) as directory:
            if self.superfluous[path]:
                os.rmdir(name, dir_fd=directory)
            else:
                os.unlink(name, dir_fd=directory)

    def _build(self, path: bytes) -> None:
        parent, name = split(path)
        with opened(self.source.root, parent) as origin, opened(self.live.root, parent) as target:
            if path in self.links.groups:
                first = self.first_names.setdefault(self.links.group(path), path)
                if first != path:
                    link(self.live.root, first, target, name)
                    return
            status = os.stat(name, dir_fd=origin, follow_symlinks=False)
            copy_entry(origin, name, target, name, status, mode=self.source.modes.get(path))

    def _correct(self, path: bytes) -> None:
        """Correct a file in place. Bytes come first: writing drops capabilities and set-id bits."""
        parent, name = split(path)
        with opened(self.source.root, parent) as origin, opened(self.live.root, parent) as target:
            if self.wrong[path]:
                os.chmod(name, 0o600, dir_fd=target)
                copy_bytes(origin, name, target, name)
            self._dress(path, origin, target, name)

    def _finish(self, path: bytes) -> None:
        """Give a directory all but its entries; last, because they move its times."""
        parent, name = split(path)
        with opened(self.source.root, parent) as origin, opened(self.live.root, parent) as target:
            self._dress(path, origin, target, name or b".")

    def _dress(self, path: bytes, origin: int, target: int, name: bytes) -> None:
        """Set owner, attributes, mode and times.

        The mode comes after the owner, because chown drops set-id bits, and after the attributes, because setting them
        needs a mode that lets this process write.
        """
        status = os.stat(name, dir_fd=origin, follow_symlinks=False)
        set_owner(target, name, status)
        if stat.S_IFMT(status.st_mode) in (stat.S_IFREG, stat.S_IFDIR) and not overrides_modes():
            os.chmod(name, 0o700, dir_fd=target)
        copy_attributes(origin, name, target, name, is_visible)
        if not stat.S_ISLNK(status.st_mode):
            os.chmod(name, stat.S_IMODE(self.source.modes.get(path, status.st_mode)), dir_fd=target)
        set_times(target, name, status)


def _same_content(pair: Pair, before: Status, after: Status) -> bool:
    if stat.S_ISREG(after.mode):
        if before.size != after.size:
            return False
        digests = [content_digest(place.directory, place.name) for place in (pair.old, pair.new)]
        return digests[0] == digests[1]
    if stat.S_ISLNK(after.mode):
        targets = [link_target(place.directory, place.name) for place in (pair.old, pair.new)]
        return targets[0] == targets[1]
    return before.rdev == after.rdev


def _same_metadata(pair: Pair, before: Status, after: Status) -> bool:
    return (before.mode, before.uid, before.gid, before.mtime_ns) == (
        after.mode,
        after.uid,
        after.gid,
        after.mtime_ns,
    ) and attributes(pair.old.handle) == attributes(pair.new.handle)
