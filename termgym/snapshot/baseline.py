"""What is known about a base tree. It never changes, so each fact is found once and shared by all its snapshots."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from termgym.snapshot.comparison import REMEMBERED_PATHS, Pair, Side, Status, Touched, explore
from termgym.snapshot.digest import Nodes, digest_nodes
from termgym.snapshot.entry import attributes, content_digest
from termgym.snapshot.links import Links, find_links
from termgym.snapshot.unlocking import unlocked
from termgym.snapshot.walking import opened_root

_REMEMBERED_SIZE = 1 << 20  # digests of larger files are kept whatever their number [bytes]
_REMEMBERED_BASES = 32
_known: OrderedDict[tuple[str, int, int, int], Baseline] = OrderedDict()


@dataclass(slots=True)
class Baseline:
    """A base tree and what was already found out about it."""

    path: Path
    _links: Links | None = None
    _nodes: Nodes | None = None
    _contents: dict[bytes, bytes] = field(default_factory=dict)
    _attributes: dict[bytes, Mapping[str, bytes]] = field(default_factory=dict)
    _statuses: dict[bytes, Status | None] = field(default_factory=dict)
    _locked: list[bytes] | None = None

    @contextmanager
    def opened(self) -> Iterator[Side]:
        """Open the tree for the time of the block."""
        with unlocked(self.path, self._locked) as modes, opened_root(self.path) as root:
            if self._locked is None:
                self._locked = list(modes)
            yield Side(root, modes, path=os.fsencode(self.path), known=self._statuses)

    def links(self) -> Links:
        """Return the hard links of the tree."""
        if self._links is None:
            with self.opened() as side:
                self._links = find_links(side)
        return self._links

    def nodes(self) -> Nodes:
        """Return the digest of every path of the tree."""
        if self._nodes is None:
            with self.opened() as side:
                self._nodes = digest_nodes(side)
            self._links = self._nodes.links
        return self._nodes

    def content(self, pair: Pair) -> bytes:
        """Return the content digest of a file of the base."""
        known = self._contents.get(pair.path)
        if known is None:
            known = content_digest(pair.old.directory, pair.old.name)
            large = pair.before is not None and pair.before.size >= _REMEMBERED_SIZE
            if large or len(self._contents) < REMEMBERED_PATHS:
                self._contents[pair.path] = known
        return known

    def attributes(self, pair: Pair) -> Mapping[str, bytes]:
        """Return the extended attributes of a path of the base."""
        known = self._attributes.get(pair.path)
        if known is None:
            known = attributes(pair.old.handle)
            if len(self._attributes) < REMEMBERED_PATHS:
                self._attributes[pair.path] = known
        return known

    def pairs(self, before: Side, after: Side, touched: Touched) -> Iterator[Pair]:
        """Yield every pair that may differ. What happened to a file happened to all its hard links: they come along."""
        linked: set[bytes] = set()
        for pair in explore(before, after, touched):
            if pair.before is not None and pair.before.is_linked:
                linked.add(pair.path)
            yield pair
        fellows = {fellow for path in linked for fellow in self.links().group(path)} - linked if linked else set()
        if fellows:
            also = Touched()
            for path in fellows:
                also.add(path)
            yield from explore(before, after, also)


def baseline(path: Path) -> Baseline:
    """Return what is known about a base tree."""
    status = os.stat(path)
    key = (os.path.realpath(path), status.st_dev, status.st_ino, status.st_ctime_ns)
    found = _known.setdefault(key, Baseline(path))
    _known.move_to_end(key)
    if len(_known) > _REMEMBERED_BASES:
        _known.popitem(last=False)
    return found
