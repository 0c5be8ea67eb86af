"""People: what ``USER`` and ``--chown`` say, looked up in the image's own /etc/passwd and /etc/group."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from termgym.image.tree import Tree

_LAST_ID = 2**32 - 2


class Person(NamedTuple):
    """Who a program runs as."""

    uid: int
    gid: int
    groups: tuple[int, ...]
    """Supplementary."""
    home: str
    name: str


def find_person(tree: Tree, user: str) -> Person:
    """Return who ``USER name``, ``USER 1000`` or ``USER name:group`` is.

    Raises:
        LookupError: the image knows no such user or group.
    """
    name, _, group = (user or "0").partition(":")
    rows = list(_rows(tree, "/etc/passwd", 7))
    row = next((each for each in rows if each[0] == name), None)
    row = row or next((each for each in rows if each[2] == name), None)
    if row is None and not _is_id(name):
        raise LookupError(f"user {name!r} is not in the image's /etc/passwd")
    uid = int(row[2]) if row else int(name)
    gid = int(row[3]) if row else 0
    known = row[0] if row else ""
    groups = tuple(int(each[2]) for each in _rows(tree, "/etc/group", 4) if known and known in each[3].split(","))
    if group:
        gid, groups = find_group(tree, group), ()
    return Person(uid, gid, groups, (row[5] if row else "") or "/", known)


def find_owner(tree: Tree, owner: str) -> tuple[int, int]:
    """Return the uid and gid that ``--chown`` names: a number alone is both, a name alone brings its group.

    Raises:
        LookupError: the image knows no such user or group.
    """
    user, _, group = owner.partition(":")
    if _is_id(user):
        uid = gid = int(user)
    else:
        person = find_person(tree, user)
        uid, gid = person.uid, person.gid
    return uid, find_group(tree, group) if group else gid


def find_group(tree: Tree, group: str) -> int:
    """Return the number of a group, given as a name or a number.

    Raises:
        LookupError: the image knows no such group.
    """
    row = next((each for each in _rows(tree, "/etc/group", 4) if each[0] == group), None)
    if row is None and not _is_id(group):
        raise LookupError(f"group {group!r} is not in the image's /etc/group")
    return int(row[2]) if row else int(group)


def _is_id(text: str) -> bool:
    return text.isascii() and text.isdigit() and int(text) <= _LAST_ID


def _rows(tree: Tree, path: str, fields: int) -> Iterator[list[str]]:
    for line in (tree.read(path) or b"").decode("utf-8", "replace").splitlines():
        row = line.split(":")
        if len(row) >= fields and _is_id(row[2]):
            yield row
