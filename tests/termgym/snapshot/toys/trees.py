"""A toy tree with one of each kind, and an oracle: what differs between two trees, found by reading all of both.

Nothing here uses the product's code but its vocabulary.
"""

from __future__ import annotations

import hashlib
import os
import socket
import stat
import struct
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from termgym.snapshot.change import Change, ChangeKind

KINDS = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "dir",
    stat.S_IFLNK: "symlink",
    stat.S_IFIFO: "fifo",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "char-device",
    stat.S_IFBLK: "block-device",
}
LONG_AGO_NS = 1_600_000_000_123_456_789
ACL_VERSION = 2  # linux/posix_acl_xattr.h
NO_ID = 0xFFFFFFFF


def acl(user: int, permissions: int) -> bytes:
    """Return an ACL that gives one named user some permissions, as the kernel stores it."""
    entries = [(0x01, 6, NO_ID), (0x02, permissions, user), (0x04, 4, NO_ID), (0x10, 7, NO_ID), (0x20, 4, NO_ID)]
    return struct.pack("<I", ACL_VERSION) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


def build(root: Path) -> None:
    """Make a tree like ``<world>``: home/agent, tmp, srv, with one of each kind of entry in the home."""
    home = root / "home" / "agent"
    home.mkdir(parents=True)
    (root / "tmp").mkdir()
    (root / "tmp").chmod(0o1777)
    (root / "srv").mkdir()
    for name, content in {
        "a": b"alpha\n",
        "b": b"beta\n",
        "c": b"same size\n",
        "empty": b"",
        "big": b"x" * 70_000,
    }.items():
        (home / name).write_bytes(content)
    (home / "script.sh").write_bytes(b"#!/bin/sh\necho hi\n")
    (home / "script.sh").chmod(0o755)
    (home / "secret").write_bytes(b"key\n")
    (home / "secret").chmod(0o600)
    (home / "readonly").write_bytes(b"read only\n")
    (home / "readonly").chmod(0o444)
    for name in ("d", "d/sub", "d/sub/deeper", "e", "emptydir"):
        (home / name).mkdir()
    for name in ("d/one", "d/two", "d/sub/three", "d/sub/deeper/four", "e/one"):
        (home / name).write_bytes(name.encode())
    (home / "many").mkdir()
    for number in range(12):
        (home / "many" / f"f{number}").write_bytes(b"%d" % (number // 2))  # in pairs of the same content
    (home / "l1").write_bytes(b"linked\n")
    os.link(home / "l1", home / "l2")
    os.link(home / "l1", home / "d" / "l3")
    os.symlink("a", home / "sym")
    os.symlink("nowhere/at/all", home / "dangling")
    os.mkfifo(home / "fifo")
    os.setxattr(home / "b", "user.note", b"kept")
    os.chmod(home / "readonly", 0o644)
    os.setxattr(home / "readonly", "user.note", b"kept")
    os.chmod(home / "readonly", 0o444)
    os.setxattr(home / "script.sh", "system.posix_acl_access", acl(os.getuid(), 7))
    with open(home / "sparse", "wb") as file:
        file.write(b"head")
        file.seek(1 << 20)
        file.write(b"tail")
        file.truncate(3 << 20)
    for name in (b"new\nline", b"\xff\xfe", b"-rf", b"n" * 255, b"sp ace,co:lon\\"):
        with open(os.fsencode(home) + b"/" + name, "wb") as file:
            file.write(name)
    (home / "locked").mkdir()
    (home / "locked" / "inside").write_bytes(b"inside\n")
    for directory, directories, files in os.walk(os.fsencode(root), topdown=False):
        for name in files + directories:
            path = os.path.join(directory, name)
            os.utime(path, ns=(LONG_AGO_NS, LONG_AGO_NS), follow_symlinks=False)
    (home / "locked").chmod(0)


def add_socket(path: Path) -> None:
    """Leave the socket of a dead server; by a short path, because an address has 108 bytes."""
    with socket.socket(socket.AF_UNIX) as server:
        directory = os.open(path.parent, os.O_RDONLY)
        server.bind(f"/proc/self/fd/{directory}/{path.name}")
        os.close(directory)


class Facts(NamedTuple):
    kind: str
    mode: int
    owner: tuple[int, int]
    attributes: tuple[tuple[str, bytes], ...]
    content: str
    mtime_ns: int
    group: tuple[bytes, ...]


def facts(root: Path) -> dict[bytes, Facts]:
    """Return everything that a snapshot promises to keep, by path."""
    with readable(root) as modes:
        statuses: dict[bytes, os.stat_result] = {}
        names: dict[tuple[int, int], list[bytes]] = defaultdict(list)
        prefix = os.fsencode(root)
        pending = [b""]
        while pending:
            path = pending.pop()
            status = statuses[path] = os.lstat(prefix + path)
            if stat.S_ISDIR(status.st_mode):
                pending.extend(path + b"/" + os.fsencode(name) for name in os.listdir(prefix + path))
            else:
                names[status.st_dev, status.st_ino].append(path)
        return {
            path: Facts(
                KINDS[stat.S_IFMT(status.st_mode)],
                modes.get(path, stat.S_IMODE(status.st_mode)),
                (status.st_uid, status.st_gid),
                attributes(prefix + path),
                content(prefix + path, status),
                status.st_mtime_ns,
                tuple(sorted(names.get((status.st_dev, status.st_ino), [path]))),
            )
            for path, status in statuses.items()
        }


class readable:
    """Open up what an ordinary user made unreadable, and close it again."""

    def __init__(self, root: Path) -> None:
        self.root = os.fsencode(root)
        self.modes: dict[bytes, int] = {}

    def __enter__(self) -> dict[bytes, int]:
        pending = [b""] if os.geteuid() else []
        while pending:
            path = pending.pop()
            mode = os.lstat(self.root + path).st_mode
            need = 0o700 if stat.S_ISDIR(mode) else 0o400 if stat.S_ISREG(mode) else 0
            if mode & need != need:
                os.chmod(self.root + path, stat.S_IMODE(mode) | need)
                self.modes[path] = stat.S_IMODE(mode)
            if stat.S_ISDIR(mode):
                pending.extend(path + b"/" + os.fsencode(name) for name in os.listdir(self.root + path))
        return self.modes

    def __exit__(self, *_: object) -> None:
        for path in reversed(self.modes):
            os.chmod(self.root + path, self.modes[path])


def attributes(path: bytes) -> tuple[tuple[str, bytes], ...]:
    names = [name for name in os.listxattr(path, follow_symlinks=False) if not name.startswith("trusted.")]
    return tuple((name, os.getxattr(path, name, follow_symlinks=False)) for name in sorted(names))


def content(path: bytes, status: os.stat_result) -> str:
    if stat.S_ISREG(status.st_mode):
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()[:16]
    if stat.S_ISLNK(status.st_mode):
        return os.fsdecode(os.readlink(path))
    return str(status.st_rdev)


def differences(before: dict[bytes, Facts], after: dict[bytes, Facts]) -> tuple[Change, ...]:
    """Return what differs, by the rules of the vocabulary; attributes without their values."""
    found = []
    for path in before.keys() | after.keys():
        shown, was, now = os.fsdecode(path) or "/", before.get(path), after.get(path)
        if was is None or now is None:
            kind = ChangeKind.ADDED if was is None else ChangeKind.REMOVED
            found.append(Change(shown, kind, was and was.kind, now and now.kind))
        elif was.kind != now.kind:
            found.append(Change(shown, ChangeKind.TYPE, was.kind, now.kind))
        else:
            found.extend(_aspects(shown, was, now))
    return tuple(sorted(found, key=lambda change: (change.path, change.kind)))


def _aspects(path: str, was: Facts, now: Facts) -> list[Change]:
    found = []
    if was.content != now.content:
        found.append(Change(path, ChangeKind.CONTENT, was.content, now.content))
    if was.mode != now.mode:
        found.append(Change(path, ChangeKind.MODE, f"{was.mode:04o}", f"{now.mode:04o}"))
    if was.owner != now.owner:
        found.append(Change(path, ChangeKind.OWNER, ":".join(map(str, was.owner)), ":".join(map(str, now.owner))))
    if was.attributes != now.attributes:
        found.append(Change(path, ChangeKind.XATTR))
    if was.group != now.group:
        groups = [", ".join(os.fsdecode(p) for p in f.group if os.fsdecode(p) != path) or None for f in (was, now)]
        found.append(Change(path, ChangeKind.LINK, *groups))
    if was.mtime_ns != now.mtime_ns and not found and was.kind != "dir":
        found.append(Change(path, ChangeKind.MTIME))
    return found


def without_attribute_values(changes: tuple[Change, ...]) -> tuple[Change, ...]:
    """Return changes as the oracle words them."""
    return tuple(Change(c.path, c.kind) if c.kind is ChangeKind.XATTR else c for c in changes)
