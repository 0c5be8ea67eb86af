"""One figure for the tree of an image: what the image is, and where the tree departs from it.

A digest of all of a root filesystem would read gigabytes. This one reads what was touched, and of that only what truly
differs counts: a file that was written anew with the same bytes is no departure. What counts of a path is what
``digest.py`` says.
"""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Callable, Iterable
from functools import partial

from termgym.snapshot.baseline import Baseline
from termgym.snapshot.comparison import Pair, Place, Status
from termgym.snapshot.digest import digest_pairs, head_of, leaf_of
from termgym.snapshot.layers import Ground
from termgym.snapshot.links import links_among
from termgym.snapshot.normalise import is_normalised

_GONE = b""


def digester(ground: Ground | None, base: Baseline) -> Callable[[Iterable[Pair]], str]:
    """Return what makes a digest of pairs that may differ: of the whole tree, or of its departure from an image."""
    if ground is not None:
        return partial(digest_departure, ground.id, base)
    return partial(digest_pairs, base.nodes())


def digest_departure(origin: str, base: Baseline, pairs: Iterable[Pair]) -> str:
    """Return the digest of a tree from that of what it stands on and the pairs that may differ."""
    found: dict[bytes, bytes] = {}
    linked: dict[bytes, bool] = {}
    live: list[tuple[bytes, tuple[int, int]]] = []
    for pair in pairs:
        after = pair.after
        try:
            now = _node(after, pair.new, pair.name)
        except FileNotFoundError:  # a program that still runs removed it meanwhile
            now, after = _GONE, None
        if (after is not None or pair.before is not None) and not _same(pair, after, now):
            found[pair.path] = now
        if after is not None and after.is_linked:
            live.append((pair.path, after.inode))
        if after is not None and (after.is_linked or (pair.before is not None and pair.before.is_linked)):
            linked[pair.path] = pair.before is not None and pair.before.is_linked
    state = hashlib.sha256(origin.encode() + b"\0")
    for path, node in sorted(found.items()):
        state.update(b"%d:%s=%s\0" % (len(path), path, node.hex().encode()))
    groups = links_among(live)
    for path, was in sorted(linked.items()):
        if groups.group(path) != (base.links().group(path) if was else (path,)):
            state.update(b"%d:%s~%s\0" % (len(path), path, b"\0".join(groups.group(path))))
    return state.hexdigest()


def _node(status: Status | None, place: Place, name: bytes) -> bytes:
    """Return the digest of one path by itself, what is in a directory left out; empty if there is nothing."""
    if status is None:
        return _GONE
    if status.is_directory:
        return hashlib.sha256(head_of(status, place)).digest()
    return leaf_of(status, place, name)


def _same(pair: Pair, after: Status | None, now: bytes) -> bool:
    """Return whether a path is as it was. What was is read only where all else is equal."""
    before = pair.before
    if before is None or after is None or stat.S_IFMT(before.mode) != stat.S_IFMT(after.mode):
        return False
    if head_of(before, pair.old) != head_of(after, pair.new):
        return False
    sizes = (before.size, after.size)
    if stat.S_ISREG(after.mode) and sizes[0] != sizes[1] and not is_normalised(pair.name, max(sizes)):
        return False
    return pair.same_bytes or _node(before, pair.old, pair.name) == now
