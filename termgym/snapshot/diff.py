"""What changed, in the one vocabulary of ``change.py``."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Mapping

from termgym.snapshot.baseline import Baseline
from termgym.snapshot.change import Change, ChangeKind
from termgym.snapshot.comparison import Pair, Status
from termgym.snapshot.entry import attributes, content_digest, kind_of, link_target, read_file
from termgym.snapshot.links import links_among
from termgym.snapshot.normalise import is_normalised, normalise
from termgym.snapshot.owners import shown

_SHORT = 16  # hexadecimal digits of a digest that are shown


def changes_in(base: Baseline, pairs: Iterable[Pair]) -> tuple[Change, ...]:
    """Return what differs between a base and a live tree, sorted, from the pairs that may differ."""
    changes: set[Change] = set()
    touches: dict[str, Change] = {}
    linked: list[tuple[bytes, Status, Status]] = []
    live: list[tuple[bytes, tuple[int, int]]] = []
    for pair in pairs:
        before, after = pair.before, pair.after
        try:
            found = _differences(base, pair)
        except FileNotFoundError:  # a program that still runs removed it meanwhile
            found, after = [_removed(pair)] if before else [], None
        changes.update(change for change in found if change.kind is not ChangeKind.MTIME)
        touches.update((change.path, change) for change in found if change.kind is ChangeKind.MTIME)
        if after and after.is_linked:
            live.append((pair.path, after.inode))
        if before and after and stat.S_IFMT(before.mode) == stat.S_IFMT(after.mode):
            linked.append((pair.path, before, after))
    now = links_among(live)
    for path, before, after in linked:
        if before.is_linked or after.is_linked:
            was_group = base.links().group(path) if before.is_linked else (path,)
            if was_group != now.group(path):
                fellows = _fellows(path, was_group), _fellows(path, now.group(path))
                changes.add(Change(_shown(path), ChangeKind.LINK, *fellows))
    changed = {change.path for change in changes}
    changes.update(change for path, change in touches.items() if path not in changed)
    return tuple(sorted(changes, key=lambda change: (change.path, change.kind)))


def _differences(base: Baseline, pair: Pair) -> list[Change]:
    """Return what differs about one path, links aside."""
    before, after, path = pair.before, pair.after, _shown(pair.path)
    if before is None and after is not None:
        return [Change(path, ChangeKind.ADDED, None, kind_of(after.mode))]
    if after is None:
        return [_removed(pair)]
    assert before is not None
    if stat.S_IFMT(before.mode) != stat.S_IFMT(after.mode):
        return [Change(path, ChangeKind.TYPE, kind_of(before.mode), kind_of(after.mode))]
    found = []
    content = _contents(base, pair, before, after)
    if content[0] != content[1]:
        found.append(Change(path, ChangeKind.CONTENT, *content))
    if stat.S_IMODE(before.mode) != stat.S_IMODE(after.mode):
        found.append(Change(path, ChangeKind.MODE, _octal(before.mode), _octal(after.mode)))
    if (before.uid, before.gid) != (after.uid, after.gid):
        found.append(Change(path, ChangeKind.OWNER, _owner(before), _owner(after)))
    old, new = base.attributes(pair), attributes(pair.new.handle)
    if old != new:
        found.append(Change(path, ChangeKind.XATTR, _listed(old, new), _listed(new, old)))
    if not found and not after.is_directory and before.mtime_ns != after.mtime_ns:
        found.append(Change(path, ChangeKind.MTIME))
    return found


def _removed(pair: Pair) -> Change:
    assert pair.before is not None
    return Change(_shown(pair.path), ChangeKind.REMOVED, kind_of(pair.before.mode), None)


def _contents(base: Baseline, pair: Pair, before: Status, after: Status) -> tuple[str, str]:
    """Return the contents of two paths of the same kind in words."""
    if stat.S_ISLNK(after.mode):
        return (
            os.fsdecode(link_target(pair.old.directory, pair.old.name)),
            os.fsdecode(link_target(pair.new.directory, pair.new.name)),
        )
    if stat.S_ISREG(after.mode) and not pair.same_bytes:
        name = pair.new.name
        if is_normalised(name, max(before.size, after.size)):
            sides = (pair.old.directory, pair.old.name), (pair.new.directory, name)
            old, new = (hashlib.sha256(normalise(name, read_file(*side))).hexdigest()[:_SHORT] for side in sides)
            return old, new
        return base.content(pair).hex()[:_SHORT], content_digest(pair.new.directory, name).hex()[:_SHORT]
    if stat.S_ISCHR(after.mode) or stat.S_ISBLK(after.mode):
        return _device(before.rdev), _device(after.rdev)
    return "", ""


def _device(number: int) -> str:
    return f"{os.major(number)}:{os.minor(number)}"


def _octal(mode: int) -> str:
    return f"{stat.S_IMODE(mode):04o}"


def _owner(status: Status) -> str:
    return "{}:{}".format(*shown(status.uid, status.gid))


def _listed(these: Mapping[str, bytes], those: Mapping[str, bytes]) -> str | None:
    """Return the attributes that differ as ``name=value``; a value that is no plain text as its digest."""
    differing = [f"{key}={_value(value)}" for key, value in sorted(these.items()) if those.get(key) != value]
    return ", ".join(differing) or None


def _value(value: bytes) -> str:
    if len(value) <= _SHORT * 2 and value.isascii() and value.decode("ascii").isprintable():
        return value.decode("ascii")
    return hashlib.sha256(value).hexdigest()[:_SHORT]


def _fellows(path: bytes, group: tuple[bytes, ...]) -> str | None:
    return ", ".join(_shown(other) for other in group if other != path) or None


def _shown(path: bytes) -> str:
    return "/" + os.fsdecode(path)
