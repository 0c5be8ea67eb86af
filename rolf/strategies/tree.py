"""Tree: the files under a directory as plain data, written to disk and read from it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

LONG_AGO = 1_000_000_000
"""When files of a tree were modified, if they do not say otherwise [s since 1970]."""
LONGEST_NAME = 255
"""limits.h, NAME_MAX [bytes]"""


class _Shown:
    """Shows itself by what is not as usual: ``File(b'x', mode=0o600)``."""

    def __repr__(self) -> str:
        said = []
        for each in fields(self):  # type: ignore[arg-type] # subclasses are dataclasses
            value = getattr(self, each.name)
            if value != each.default:
                text = f"0o{value:o}" if each.name == "mode" else repr(value)
                said.append(text if each.name in ("content", "target", "to") else f"{each.name}={text}")
        return f"{type(self).__name__}({', '.join(said)})"


@dataclass(frozen=True, repr=False)
class File(_Shown):
    """A regular file."""

    content: bytes = b""
    mode: int = 0o644
    mtime: int = LONG_AGO
    """When it was modified [s since 1970]."""
    hole: int = 0
    """Zeros before the content that take no room on the disk [bytes]."""

    @property
    def data(self) -> bytes:
        """All of its bytes."""
        return bytes(self.hole) + self.content


@dataclass(frozen=True, repr=False)
class Directory(_Shown):
    """A directory; when it was modified follows from what is in it."""

    mode: int = 0o755


@dataclass(frozen=True, repr=False)
class Symlink(_Shown):
    """A symbolic link, whether or not anything is there."""

    target: str
    mtime: int = LONG_AGO


@dataclass(frozen=True, repr=False)
class HardLink(_Shown):
    """One more name of a file of the tree."""

    to: str
    """Path of the file, in the tree."""


Entry = File | Directory | Symlink | HardLink


@dataclass(frozen=True)
class Tree:
    """Paths relative to a directory, and what lies there.

    Names are text; bytes that are no UTF-8 stand in it as surrogates (``os.fsdecode``). Trees whose files are the same
    are equal only if the same of several hard links is called the file.

    Example::

        tree = Tree({"src": Directory(), "src/main.py": File(b"print()"), "copy": HardLink("src/main.py")})
        tree.write("/tmp/here")
        assert changes(read_tree("/tmp/here"), tree) == ()

    Raises:
        ValueError: something lies in no directory, has a name that no file can have, or links to no file.
    """

    entries: Mapping[str, Entry] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for path, entry in self.entries.items():
            parent, _, name = path.rpartition("/")
            if not _possible(name):
                raise ValueError(f"{path!r} has a last part that no file can be called; give another name")
            if parent and not isinstance(self.entries.get(parent), Directory):
                raise ValueError(
                    f"{path!r} lies in {parent!r}, which is no directory of the tree; add Directory() there"
                )
            if isinstance(entry, HardLink) and not isinstance(self.entries.get(entry.to), File):
                raise ValueError(f"{path!r} is a hard link to {entry.to!r}, which is no File of the tree; add it")

    def file(self, path: str) -> File:
        """Return the file of that name, by whatever link.

        Raises:
            LookupError: there is none.
        """
        entry = self.entries.get(path)
        found = self.entries[entry.to] if isinstance(entry, HardLink) else entry
        if not isinstance(found, File):
            raise LookupError(f"{path!r} is {found!r} and no file of the tree")
        return found

    def names(self) -> dict[str, frozenset[str]]:
        """Return for each file all its names."""
        groups: dict[str, set[str]] = {}
        for path, entry in self.entries.items():
            if isinstance(entry, File | HardLink):
                groups.setdefault(entry.to if isinstance(entry, HardLink) else path, set()).add(path)
        return {path: frozenset(group) for group in groups.values() for path in group}

    def write(self, directory: str | Path) -> None:
        """Write the tree into a directory, which is made if it is not there.

        Modes and times are set whatever the umask; needs no privilege.

        Raises:
            OSError: something of that name is there already, or the file system refuses it.
        """
        root = os.fspath(directory)
        os.makedirs(root, exist_ok=True)
        ordered = sorted(self.entries.items(), key=lambda each: (isinstance(each[1], HardLink), each[0].count("/")))
        for path, entry in ordered:
            put(os.path.join(root, path), entry, root)
        # From the deepest up, for a closed directory lets nobody in.
        for path, entry in reversed(ordered):
            if isinstance(entry, Directory):
                os.chmod(os.path.join(root, path), entry.mode)


def _possible(name: str) -> bool:
    return name not in ("", ".", "..") and "\0" not in name and len(os.fsencode(name)) <= LONGEST_NAME


def put(path: str, entry: Entry, root: str) -> None:
    """Make one entry where nothing is; a directory is open until its mode is set."""
    match entry:
        case Directory():
            os.mkdir(path)
            os.chmod(path, 0o700)
        case Symlink():
            os.symlink(entry.target, path)
            os.utime(path, (entry.mtime, entry.mtime), follow_symlinks=False)
        case HardLink():
            os.link(os.path.join(root, entry.to), path)
        case File():
            with open(path, "xb") as file:
                file.seek(entry.hole)
                file.write(entry.content)
                file.truncate(entry.hole + len(entry.content))
            os.chmod(path, entry.mode)
            os.utime(path, (entry.mtime, entry.mtime))


def read_tree(directory: str | Path) -> Tree:
    """Return the files under a directory, found by looking at every one.

    Modes that keep their owner out are lifted for the time of the look. Only files, directories and links are read.

    Raises:
        ValueError: something else lies there: a socket, a FIFO, a device.
        OSError: something cannot be read.
    """
    entries: dict[str, Entry] = {}
    first: dict[tuple[int, int], str] = {}
    for path, full, status in _walk(os.fspath(directory), ""):
        identity = status.st_dev, status.st_ino
        if stat.S_ISDIR(status.st_mode):
            entries[path] = Directory(stat.S_IMODE(status.st_mode))
        elif stat.S_ISLNK(status.st_mode):
            entries[path] = Symlink(os.readlink(full), int(status.st_mtime))
        elif not stat.S_ISREG(status.st_mode):
            raise ValueError(f"{full!r} is neither file, directory nor link; a Tree holds nothing else")
        elif identity in first:
            entries[path] = HardLink(first[identity])
        else:
            first[identity] = path
            with opened_up(full), open(full, "rb") as file:
                entries[path] = File(file.read(), stat.S_IMODE(status.st_mode), int(status.st_mtime))
    return Tree(entries)


def _walk(root: str, at: str) -> Iterator[tuple[str, str, os.stat_result]]:
    with opened_up(os.path.join(root, at)):
        for name in sorted(os.listdir(os.path.join(root, at))):
            path = f"{at}/{name}" if at else name
            status = os.lstat(os.path.join(root, path))
            yield path, os.path.join(root, path), status
            if stat.S_ISDIR(status.st_mode):
                yield from _walk(root, path)


@contextmanager
def opened_up(path: str) -> Iterator[None]:
    """Lift what a mode forbids to the owner, and put it back."""
    mode = stat.S_IMODE(os.stat(path).st_mode)
    wanted = mode | (0o700 if os.path.isdir(path) else 0o600)
    if wanted != mode:
        os.chmod(path, wanted)
    try:
        yield
    finally:
        # Even where it was not lifted: a write takes the set-id bits away.
        if stat.S_IMODE(os.stat(path).st_mode) != mode:
            os.chmod(path, mode)


@dataclass(frozen=True, slots=True, order=True)
class TreeChange:
    """One thing about one path that differs. Sorts by path, then kind."""

    path: str
    kind: str
    """``added``, ``removed``; ``type`` (then no other of the path); ``content`` (bytes, or a link's target); ``mode``;
    ``link`` (which other paths are the same file); ``mtime`` (nothing else of a file or link changed)."""


def changes(before: Tree, after: Tree) -> tuple[TreeChange, ...]:
    """Return what a correct comparison of two trees reports, sorted.

    When a directory was modified is no part of it, nor is where the holes of a file lie.
    """
    were, are = before.names(), after.names()
    found = []
    for path in before.entries.keys() | after.entries.keys():
        if path not in before.entries:
            kinds = ["added"]
        elif path not in after.entries:
            kinds = ["removed"]
        else:
            kinds = _kinds(_content(before, path), _content(after, path), were.get(path) != are.get(path))
        found += [TreeChange(path, kind) for kind in kinds]
    return tuple(sorted(found))


def _content(tree: Tree, path: str) -> File | Directory | Symlink:
    entry = tree.entries[path]
    return tree.file(path) if isinstance(entry, HardLink) else entry


def _kinds(before: Any, after: Any, relinked: bool) -> list[str]:
    """Return how two entries of one path differ."""
    if type(before) is not type(after):
        return ["type"]
    kinds = []
    if isinstance(before, Symlink):
        kinds += ["content"] if before.target != after.target else []
    else:
        kinds += ["content"] if isinstance(before, File) and before.data != after.data else []
        kinds += ["mode"] if before.mode != after.mode else []
    kinds += ["link"] if relinked else []
    if not kinds and not isinstance(before, Directory) and before.mtime != after.mtime:
        kinds = ["mtime"]
    return kinds
