"""One figure for a tree: a Merkle digest, found again in the time of the changes.

It covers names, kinds, modes, owners, extended attributes, link targets, contents and which paths are the same file.
Modification times and inode numbers do not count: two runs of the same commands differ in them. Sockets and devices
count by their kind alone: what is behind them is gone.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from termgym.snapshot.comparison import Pair, Place, Side, Status, status_of
from termgym.snapshot.entry import attributes, content_digest, kind_of, link_target, read_file
from termgym.snapshot.links import Group, Links, links_among
from termgym.snapshot.normalise import is_normalised, normalise
from termgym.snapshot.owners import shown
from termgym.snapshot.unlocking import unlocked
from termgym.snapshot.walking import handle, opened_root, split, walk

_BY_KIND_ALONE = frozenset({"socket", "char-device", "block-device"})


@dataclass(slots=True)
class Nodes:
    """The digests of a whole tree."""

    children: dict[bytes, dict[bytes, bytes]] = field(default_factory=dict)
    """Directory -> name -> digest of what it names."""
    root: bytes = b""
    links: Links = field(default_factory=Links)

    def hex(self) -> str:
        """Return the digest of the tree."""
        return _tree_digest(self.root, self.links.unique())


def tree_digest(path: Path) -> str:
    """Return the digest of a tree by reading all of it."""
    with unlocked(path) as modes, opened_root(path) as root:
        return digest_nodes(Side(root, modes)).hex()


def digest_nodes(side: Side) -> Nodes:
    """Return the digests of a whole tree."""
    nodes = Nodes()
    heads: dict[bytes, bytes] = {}
    linked = []
    for path, directory, name, found in walk(side.root):
        status = status_of(found, side.modes.get(path))
        place = Place(directory, name, handle(directory, name))
        try:
            if status.is_directory:
                nodes.children[path] = {}
                heads[path] = head_of(status, place)
            else:
                nodes.children[split(path)[0]][name] = leaf_of(status, place, name)
        except FileNotFoundError:  # a program that still runs removed it meanwhile
            continue
        if status.is_linked:
            linked.append((path, status.inode))
    nodes.root = _combine(nodes.children, heads)
    nodes.links = links_among(linked)
    return nodes


def digest_pairs(nodes: Nodes, pairs: Iterable[Pair]) -> str:
    """Return the digest of a live tree from the digests of its base and the pairs that may differ."""
    children: dict[bytes, dict[bytes, bytes]] = {}
    heads: dict[bytes, bytes] = {}
    linked, visited = [], set()
    for pair in pairs:
        parent = split(pair.path)[0]
        if (pair.before and pair.before.is_linked) or (pair.after and pair.after.is_linked):
            visited.add(pair.path)
        try:
            after = pair.after
            if after is None:
                raise FileNotFoundError
            if after.is_directory and pair.path not in heads:
                heads[pair.path] = head_of(after, pair.new)
                children[pair.path] = {} if pair.complete else dict(nodes.children[pair.path])
            elif not after.is_directory:
                children.setdefault(parent, {})[pair.name] = leaf_of(after, pair.new, pair.name)
                if after.is_linked:
                    linked.append((pair.path, after.inode))
        except FileNotFoundError:  # removed before, or by a program that still runs
            children.get(parent, {}).pop(pair.name, None)
    groups: list[Group] = [group for group in nodes.links.unique() if visited.isdisjoint(group)]
    groups.extend(links_among(linked).unique())
    return _tree_digest(_combine(children, heads), groups)


def _combine(children: dict[bytes, dict[bytes, bytes]], heads: dict[bytes, bytes]) -> bytes:
    """Fill in the digests of directories, deepest first, and return the root's."""
    digest = b""
    for path in reversed(heads):
        state = hashlib.sha256(heads[path])
        for name, child in sorted(children[path].items()):
            state.update(name + b"\0" + child)
        digest = state.digest()
        if path:
            parent, name = split(path)
            children[parent][name] = digest
    return digest


def _tree_digest(root: bytes, groups: Iterable[Group]) -> str:
    state = hashlib.sha256(root)
    for group in sorted(groups):
        state.update(b"\0".join(group) + b"\0\0")
    return state.hexdigest()


def head_of(status: Status, place: Place) -> bytes:
    """Return everything about a path but its content."""
    kind = kind_of(status.mode)
    if kind in _BY_KIND_ALONE:
        return b"%s\0" % kind.encode()
    head = b"%s %o %d:%d\0" % (kind.encode(), stat.S_IMODE(status.mode), *shown(status.uid, status.gid))
    for key, value in sorted(attributes(place.handle).items()):
        head += b"%s=%d:%s\0" % (os.fsencode(key), len(value), value)
    return head


def leaf_of(status: Status, place: Place, name: bytes) -> bytes:
    """Return the digest of a path that is not a directory."""
    state = hashlib.sha256(head_of(status, place))
    at = place.directory, place.name
    if stat.S_ISLNK(status.mode):
        state.update(link_target(*at))
    elif stat.S_ISREG(status.mode):
        if is_normalised(name, status.size):
            state.update(hashlib.sha256(normalise(name, read_file(*at))).digest())
        else:
            state.update(content_digest(*at))
    return state.digest()
