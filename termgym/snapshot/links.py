"""Hard links: which paths of a tree are the same file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from termgym.snapshot.comparison import Side, status_of
from termgym.snapshot.walking import walk

Group = tuple[bytes, ...]


@dataclass(slots=True)
class Links:
    """Groups of at least two paths that are one file; names outside the tree do not count."""

    groups: dict[bytes, Group] = field(default_factory=dict)
    """Path -> all paths of its group, sorted. Paths without a fellow are absent."""

    def group(self, path: bytes) -> Group:
        """Return all paths that are the same file as this one, itself included."""
        return self.groups.get(path, (path,))

    def unique(self) -> Iterator[Group]:
        """Yield each group once."""
        for path, group in self.groups.items():
            if path == group[0]:
                yield group


def links_among(found: Iterable[tuple[bytes, tuple[int, int]]]) -> Links:
    """Return the groups in (path, inode)."""
    names: dict[tuple[int, int], set[bytes]] = defaultdict(set)
    for path, inode in found:
        names[inode].add(path)
    links = Links()
    for paths in names.values():
        if len(paths) > 1:
            group = tuple(sorted(paths))
            links.groups.update(dict.fromkeys(group, group))
    return links


def find_links(side: Side) -> Links:
    """Return the hard links of a whole tree."""
    statuses = ((path, status_of(status)) for path, _, _, status in walk(side.root))
    return links_among((path, status.inode) for path, status in statuses if status.is_linked)
