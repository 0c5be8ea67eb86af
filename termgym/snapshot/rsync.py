"""Snapshots by rsync: the mission's baseline, ``rsync -aHAX --delete``, with the leaks closed that it has by itself.

- ``-c`` compares contents: a same-size edit with the old mtime put back is not seen otherwise.
- ``--modify-window=-1`` compares times to the nanosecond; by itself rsync takes the same second for the same time.
- Modes are repaired first: one unreadable directory makes rsync of an ordinary user skip every deletion.
- ``chattr +i`` and ``+a`` are taken off first: rsync can neither write nor delete such files.
- Files under wrong hard links are removed first: rsync joins names that belong together, but never parts others.
- Paths too long for rsync are removed first.
- Its exit status is checked.

It reads both trees at each restore, so it is the last choice; it is here because it works wherever rsync does.
"""

from __future__ import annotations

import itertools
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from termgym.errors import SnapshotError
from termgym.snapshot.baseline import Baseline, baseline
from termgym.snapshot.change import Change, ChangeKind
from termgym.snapshot.comparison import Pair, Side, Touched
from termgym.snapshot.copying import remove_entries, remove_tree
from termgym.snapshot.departure import digester
from termgym.snapshot.diff import changes_in
from termgym.snapshot.digest import tree_digest
from termgym.snapshot.flags import clear_flags
from termgym.snapshot.keeping import find_copy, keep_copy, load_copy, put_back
from termgym.snapshot.layers import Ground
from termgym.snapshot.links import find_links
from termgym.snapshot.owners import plainly
from termgym.snapshot.unlocking import overrides_modes, relock, unlock, unlocked
from termgym.snapshot.walking import open_directory, opened, opened_root, split, status_at, walk

_OPTIONS = ("-aHAXc", "-S", "--numeric-ids", "--delete", "--modify-window=-1")
_LONGEST = 3800  # bytes of absolute path; rsync gives up at 4096, temporary names included
_SHOWN_ERROR = 2000  # bytes of rsync's own words in an error


class RsyncSnapshot:
    """A copy of the base tree that rsync puts back."""

    name = "rsync"

    def __init__(self, base: Path, work: Path, *, log_dir: Path | None = None, ground: Ground | None = None) -> None:
        if shutil.which("rsync") is None:
            raise SnapshotError("rsync is not installed; install it (apt-get install rsync) or choose another backend")
        self.base = base
        self.live = work / "live"
        self._kept = work / "kept"
        self._baseline = baseline(base)
        self._log_dir = log_dir
        self._ground = ground
        self._episodes = itertools.count()
        self._episode = 0
        if log_dir is not None:
            log_dir.mkdir(parents=True, exist_ok=True)
        self.live.mkdir()
        self._kept.mkdir()
        self.restore()

    def restore(self) -> None:
        """Let rsync make the live tree equal to the base; with logs, begin the next episode's."""
        self._episode = next(self._episodes)
        said = _synchronise(self._baseline, self.live, verbose=self._log_dir is not None)
        if self._log_dir is not None:
            (self._log_dir / f"{self._episode:06d}_init").write_bytes(said)

    def diff(self) -> tuple[Change, ...]:
        """Return what differs between base and live, sorted; with logs, write it down as ``diff -r`` would too."""
        with self._pairs() as pairs:
            changes = changes_in(self._baseline, pairs)
        if self._log_dir is not None:
            text = "".join(f"{line}\n" for line in _listing(changes, self.base, self.live))
            (self._log_dir / f"{self._episode:06d}_diff.txt").write_bytes(os.fsencode(text))
        return changes

    def digest(self) -> str:
        """Return the Merkle digest of the live tree; on an image, that of its departure from it."""
        if self._ground is None:
            return tree_digest(self.live)
        digest = digester(self._ground, self._baseline)
        with self._pairs() as pairs:
            return digest(pairs)

    @contextmanager
    def _pairs(self) -> Iterator[Iterator[Pair]]:
        """Yield all pairs, for the time of the block."""
        owners = plainly(self._ground is not None)
        with owners, self._baseline.opened() as before, unlocked(self.live) as modes, opened_root(self.live) as root:
            yield self._baseline.pairs(before, Side(root, modes), Touched.everything())

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


def _synchronise(source: Baseline, target: Path, *, verbose: bool = False) -> bytes:
    """Make a tree equal to another one with rsync; return what rsync said."""
    with opened_root(target) as root, source.opened() as side:
        if not overrides_modes():
            unlock(root)
        _clear_way(root, side.root, len(os.fsencode(target)))
        _part_links(root, source)
        options = [*_OPTIONS, "-v"] if verbose else [*_OPTIONS]
        done = subprocess.run(
            ["rsync", *options, "--", f"{source.path}/", f"{target}/"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"},
            check=False,
        )
        if done.returncode:
            words = os.fsdecode(done.stderr[-_SHOWN_ERROR:]).strip()
            raise SnapshotError(
                f"rsync from {str(source.path)!r} to {str(target)!r} ended with {done.returncode}: {words}"
            )
        relock(root, dict(side.modes))  # rsync saw the modes of the source as they had to be for reading
    return done.stdout


def _clear_way(root: int, source_root: int, prefix: int) -> None:
    """Take flags off, and remove paths that rsync cannot reach."""
    unreachable: set[bytes] = set()
    for path, directory, name, status in walk(root):
        clear_flags(directory, name, status.st_mode)
        if prefix + len(path) > _LONGEST:
            unreachable.add(_topmost_extra(source_root, path))
    for path in unreachable:
        parent, name = split(path)
        with opened(root, parent) as directory:
            extra = status_at(directory, name)
            if extra is not None and stat.S_ISDIR(extra.st_mode):
                remove_entries(root, path)
                os.rmdir(name, dir_fd=directory)
            elif extra is not None:
                os.unlink(name, dir_fd=directory)


def _topmost_extra(source_root: int, path: bytes) -> bytes:
    """Return the first part of a path that the source does not have; the path itself if it has it all."""
    parts = path.split(b"/")
    low, high = 1, len(parts)
    while low < high:
        middle = (low + high) // 2
        if _is_directory(source_root, b"/".join(parts[:middle])):
            low = middle + 1
        else:
            high = middle
    return b"/".join(parts[:low])


def _is_directory(root: int, path: bytes) -> bool:
    try:
        os.close(open_directory(root, path))
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _part_links(root: int, source: Baseline) -> None:
    """Remove every file that is the same as another one and should not be; rsync makes it anew."""
    for group in find_links(Side(root)).unique():
        if source.links().group(group[0]) != group:
            for path in group:
                parent, name = split(path)
                with opened(root, parent) as directory:
                    os.unlink(name, dir_fd=directory)


def _listing(changes: tuple[Change, ...], base: Path, live: Path) -> list[str]:
    """Return the lines of ``diff -r --no-dereference``, as far as it would see the changes, then all changes."""
    lines = []
    extra = {change.path: live if change.kind is ChangeKind.ADDED else base for change in changes if _one_sided(change)}
    for change in changes:
        parent, _, name = change.path.rpartition("/")
        if change.path in extra and parent not in extra:
            lines.append(f"Only in {extra[change.path]}{parent}: {name}")
        elif change.kind is ChangeKind.CONTENT:
            lines.append(f"Files {base}{change.path} and {live}{change.path} differ")
        elif change.kind is ChangeKind.TYPE:
            old, new = f"{base}{change.path} is a {change.before}", f"{live}{change.path} is a {change.after}"
            lines.append(f"File {old} while file {new}")
    lines.append("")
    lines.extend(f"{change.kind} {change.path} {change.before} -> {change.after}" for change in changes)
    return lines


def _one_sided(change: Change) -> bool:
    return change.kind in (ChangeKind.ADDED, ChangeKind.REMOVED)
