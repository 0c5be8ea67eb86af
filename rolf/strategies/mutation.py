"""Mutation: one thing that is done to a tree, on disk and in the mind.

Each says twice what it does: ``apply`` does it to files, ``foresee`` to the tree as plain data. So what a comparison
must report is known without a look at the disk.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass, replace
from typing import Protocol

from rolf.strategies.tree import LONG_AGO, Directory, Entry, File, HardLink, Symlink, Tree, opened_up, put


class Node:
    """A file, a directory or a link that paths lead to; several to one file where it has hard links."""

    def __init__(self, entry: File | Directory | Symlink) -> None:
        self.entry = entry


Nodes = dict[str, Node]
"""A tree that can be changed: path -> what lies there."""


def nodes_of(tree: Tree) -> Nodes:
    """Return a tree in a form that can be changed."""
    nodes = {path: Node(entry) for path, entry in tree.entries.items() if not isinstance(entry, HardLink)}
    for path, entry in tree.entries.items():
        if isinstance(entry, HardLink):
            nodes[path] = nodes[entry.to]
    return nodes


def tree_of(nodes: Nodes) -> Tree:
    """Return the tree again; of several names of a file the first, by name, is the file."""
    first: dict[int, str] = {}
    entries: dict[str, Entry] = {}
    for path in sorted(nodes):
        known = first.setdefault(id(nodes[path]), path)
        entries[path] = nodes[path].entry if known == path else HardLink(known)
    return Tree(entries)


class Mutation(Protocol):
    """What all mutations can do."""

    def apply(self, root: str) -> None:
        """Do it to the files under a directory."""

    def foresee(self, nodes: Nodes) -> None:
        """Do it to the tree."""


@dataclass(frozen=True)
class Create:
    """Make a file, a directory or a symbolic link where nothing was."""

    path: str
    entry: File | Directory | Symlink

    def apply(self, root: str) -> None:
        """See `Mutation`."""
        path = os.path.join(root, self.path)
        put(path, self.entry, root)
        if isinstance(self.entry, Directory):
            os.chmod(path, self.entry.mode)

    def foresee(self, nodes: Nodes) -> None:
        """See `Mutation`."""
        nodes[self.path] = Node(self.entry)


@dataclass(frozen=True)
class Link:
    """Give a file one more name."""

    path: str
    to: str

    def apply(self, root: str) -> None:
        """See `Mutation`."""
        os.link(os.path.join(root, self.to), os.path.join(root, self.path))

    def foresee(self, nodes: Nodes) -> None:
        """See `Mutation`."""
        nodes[self.path] = nodes[self.to]


@dataclass(frozen=True)
class Remove:
    """Delete what lies there, with all that lies in it."""

    path: str

    def apply(self, root: str) -> None:
        """See `Mutation`."""
        path = os.path.join(root, self.path)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)

    def foresee(self, nodes: Nodes) -> None:
        """See `Mutation`."""
        for path in within(nodes, self.path):
            del nodes[path]


@dataclass(frozen=True)
class Replace:
    """Put something else into its place: a directory for a file, a file for a link."""

    path: str
    entry: File | Directory | Symlink

    def apply(self, root: str) -> None:
        """See `Mutation`."""
        Remove(self.path).apply(root)
        Create(self.path, self.entry).apply(root)

    def foresee(self, nodes: Nodes) -> None:
        """See `Mutation`."""
        Remove(self.path).foresee(nodes)
        Create(self.path, self.entry).foresee(nodes)


@dataclass(frozen=True)
class Rename:
    """Call it otherwise, over whatever lay there, as rename(2) does; a file's other link it leaves alone."""

    path: str
    to: str

    def apply(self, root: str) -> None:
        """See `Mutation`."""
        os.rename(os.path.join(root, self.path), os.path.join(root, self.to))

    def foresee(self, nodes: Nodes) -> None:
        """See `Mutation`."""
        if nodes.get(self.to) is nodes[self.path]:
            return
        moved = {path: nodes.pop(path) for path in within(nodes, self.path)}
        nodes.pop(self.to, None)
        nodes.update({self.to + path[len(self.path) :]: node for path, node in moved.items()})


@dataclass(frozen=True)
class ChangeMode:
    """Change who may do what with a file or a directory."""

    path: str
    mode: int

    def apply(self, root: str) -> None:
        """See `Mutation`."""
        os.chmod(os.path.join(root, self.path), self.mode)

    def foresee(self, nodes: Nodes) -> None:
        """See `Mutation`."""
        node = nodes[self.path]
        assert not isinstance(node.entry, Symlink)
        node.entry = replace(node.entry, mode=self.mode)

    def __repr__(self) -> str:
        return f"ChangeMode({self.path!r}, 0o{self.mode:o})"


@dataclass(frozen=True)
class Write:
    """Write into a file at a place, beyond its end too; then set when it was modified, which may be the old time."""

    path: str
    offset: int
    content: bytes
    mtime: int = LONG_AGO

    def apply(self, root: str) -> None:
        """See `Mutation`."""
        path = os.path.join(root, self.path)
        with opened_up(path), open(path, "r+b") as file:
            file.seek(self.offset)
            file.write(self.content)
        os.utime(path, (self.mtime, self.mtime))

    def foresee(self, nodes: Nodes) -> None:
        """See `Mutation`."""
        entry = _file(nodes, self.path)
        data = bytearray(entry.data)
        if self.content:
            data.extend(bytes(max(0, self.offset - len(data))))
            data[self.offset : self.offset + len(self.content)] = self.content
        nodes[self.path].entry = replace(entry, content=bytes(data), hole=0, mtime=self.mtime)


@dataclass(frozen=True)
class Resize:
    """Cut a file off, or lengthen it by a hole."""

    path: str
    size: int
    mtime: int = LONG_AGO

    def apply(self, root: str) -> None:
        """See `Mutation`."""
        path = os.path.join(root, self.path)
        with opened_up(path):
            os.truncate(path, self.size)
        os.utime(path, (self.mtime, self.mtime))

    def foresee(self, nodes: Nodes) -> None:
        """See `Mutation`."""
        entry = _file(nodes, self.path)
        data = entry.data[: self.size]
        content = data + bytes(self.size - len(data))
        nodes[self.path].entry = replace(entry, content=content, hole=0, mtime=self.mtime)


@dataclass(frozen=True)
class Touch:
    """Change when a file or a link was modified, and nothing else."""

    path: str
    mtime: int

    def apply(self, root: str) -> None:
        """See `Mutation`."""
        os.utime(os.path.join(root, self.path), (self.mtime, self.mtime), follow_symlinks=False)

    def foresee(self, nodes: Nodes) -> None:
        """See `Mutation`."""
        node = nodes[self.path]
        assert not isinstance(node.entry, Directory)
        node.entry = replace(node.entry, mtime=self.mtime)


@dataclass(frozen=True)
class BreakLink:
    """Make a name's file a file of its own, equal in all but that: what an editor does that saves by renaming."""

    path: str

    def apply(self, root: str) -> None:
        """See `Mutation`."""
        path = os.path.join(root, self.path)
        descriptor, aside = tempfile.mkstemp(dir=os.path.dirname(path))
        os.close(descriptor)
        with opened_up(path):
            shutil.copyfile(path, aside)
        shutil.copystat(path, aside)
        os.rename(aside, path)

    def foresee(self, nodes: Nodes) -> None:
        """See `Mutation`."""
        nodes[self.path] = Node(nodes[self.path].entry)


def within(nodes: Nodes, path: str) -> list[str]:
    """Return a path and all that lies beneath it."""
    return [each for each in nodes if each == path or each.startswith(f"{path}/")]


def _file(nodes: Nodes, path: str) -> File:
    entry = nodes[path].entry
    assert isinstance(entry, File)
    return entry
