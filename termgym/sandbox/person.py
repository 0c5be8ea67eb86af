"""Who the agent is on an image: a user of the image's own /etc/passwd, with the powers that docker gives.

Root here is the machine's root by number, not by power: no capability that reaches past the sandbox is left to it, and
as no program gains any by exec (``no_new_privs``), none comes back. For a user that is not root this means that ``su``
and ``sudo`` do not work; as root they do.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from termgym.errors import TaskError
from termgym.sandbox import syscalls
from termgym.sandbox.reading import read_place

CAPABILITIES = {
    "CAP_CHOWN": 0,
    "CAP_DAC_OVERRIDE": 1,
    "CAP_FOWNER": 3,
    "CAP_FSETID": 4,
    "CAP_KILL": 5,
    "CAP_SETGID": 6,
    "CAP_SETUID": 7,
    "CAP_SETPCAP": 8,
    "CAP_NET_BIND_SERVICE": 10,
    "CAP_SYS_CHROOT": 18,
}
"""What docker leaves by default (https://docs.docker.com/engine/containers/run/#runtime-privilege-and-linux-capabilities),
less MKNOD, NET_RAW, AUDIT_WRITE and SETFCAP, which reach devices, the network, the host's log and other sandboxes."""
_LARGEST = 1 << 20  # of a passwd or group file that is read [bytes]
_PASSWD = ("name", "secret", "number", "number", "comment", "home", "shell")  # passwd(5)
_GROUP = ("name", "secret", "number", "members")  # group(5)


class Person(NamedTuple):
    """A user of an image."""

    uid: int
    gid: int
    groups: tuple[int, ...]
    """Supplementary ones."""
    home: str


def find_person(tree: Path, wanted: str) -> Person:
    """Return whom ``USER`` of a Dockerfile means in a tree: a name or number, perhaps with a group after a colon.

    Raises:
        TaskError: the image has no such user or group.
    """
    user, _, group = (wanted or "0").partition(":")
    users = _entries(tree, "passwd", _PASSWD)
    entry = next((line for line in users if user in (line[0], line[2])), None)
    if entry is None and not _is_number(user):
        known = ", ".join(line[0] for line in users) or "none"
        raise TaskError(f"the image has no user {user!r}; its /etc/passwd has {known}; make it by RUN useradd {user}")
    uid = int(user if entry is None else entry[2])
    home = entry[5] if entry is not None and entry[5].startswith("/") else "/"
    if group:
        return Person(uid, _group_id(tree, group), (), home)
    gid = 0 if entry is None else int(entry[3])
    name = "" if entry is None else entry[0]
    groups = {int(line[2]) for line in _entries(tree, "group", _GROUP) if name and name in line[3].split(",")} - {gid}
    return Person(uid, gid, tuple(sorted(groups)), home)


def _group_id(tree: Path, wanted: str) -> int:
    groups = _entries(tree, "group", _GROUP)
    entry = next((line for line in groups if wanted in (line[0], line[2])), None)
    if entry is not None:
        return int(entry[2])
    if _is_number(wanted):
        return int(wanted)
    known = ", ".join(line[0] for line in groups) or "none"
    raise TaskError(f"the image has no group {wanted!r}; its /etc/group has {known}; make it by RUN groupadd {wanted}")


def _entries(tree: Path, name: str, form: tuple[str, ...]) -> list[list[str]]:
    """Return the well-formed lines of /etc/passwd or /etc/group of a tree."""
    root = os.open(tree, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        place = syscalls.open_in_root(root, f"/etc/{name}", os.O_PATH)
    except OSError:
        return []
    finally:
        os.close(root)
    try:
        text = (read_place(place, _LARGEST) or b"").decode("utf-8", "replace")
    finally:
        os.close(place)
    lines = (line.split(":") for line in text.splitlines())
    return [line for line in lines if len(line) == len(form) and all(map(_fits, form, line))]


def _fits(kind: str, field: str) -> bool:
    return kind != "number" or _is_number(field)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def become(person: Person, *, real_root: bool) -> None:
    """Turn the calling process, root here, into a person for good, with no capability but those above.

    In a user namespace of one user there is nobody else to become.
    """
    kept = sum(1 << number for number in CAPABILITIES.values())
    syscalls.drop_bounding(kept)
    if real_root:
        os.setgroups(person.groups)
        os.setresgid(person.gid, person.gid, person.gid)
        os.setresuid(person.uid, person.uid, person.uid)
    if os.getuid() == 0:
        syscalls.set_capabilities(kept)
