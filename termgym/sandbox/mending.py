"""Mending a tree for a verifier: what the agent changed is shown as the image has it, what it planted is not shown.

The tree is thrown away afterwards. No process of the agent lives, so nothing moves; its symbolic links are not followed
all the same: a path that leads through one is left alone, for by it nothing of the image is reached any more.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from termgym.sandbox.syscalls import open_in_root
from termgym.snapshot.copying import Chooser, copy_attributes, copy_entry, remove_tree, replicate, set_owner, set_times
from termgym.snapshot.entry import is_visible
from termgym.snapshot.walking import opened_root, status_at, walk

_HEAVY = 64 << 20
"""A directory of the image with more in it is bound instead of copied, so read-only [bytes]."""


def hide(tree: Path, paths: Sequence[str]) -> None:
    """Remove paths with all that lies in them."""
    for path in paths:
        with _parent(tree, path) as (directory, name):
            if directory >= 0:
                remove_entry(directory, name)


def put_back(tree: Path, image: Path, paths: Sequence[str], *, real_root: bool) -> list[str]:
    """Make paths as an image has them; return those of its directories that are too large to be copied.

    Args:
        tree: where.
        image: the whole of the image.
        paths: parents before what lies in them.
        real_root: whether files can be given to any user.
    """
    heavy: list[str] = []
    for path in paths:
        if any(path.startswith(f"{above}/") for above in heavy):
            continue
        _make_parents(tree, image, path, real_root=real_root)
        with _parent(tree, path) as (new, name), _parent(image, path) as (old, _):
            if new < 0 or old < 0:
                continue
            was, now = status_at(old, name), status_at(new, name)
            if was is None:
                continue
            if now is not None and stat.S_ISDIR(was.st_mode) and stat.S_ISDIR(now.st_mode):
                _dress(old, new, name, was, real_root=real_root)
                continue
            if now is not None:
                remove_entry(new, name)
            if stat.S_ISDIR(was.st_mode) and _is_heavy(image, path):
                os.mkdir(name, 0o755, dir_fd=new)
                heavy.append(path)
            else:
                _copy(old, new, name, was, real_root=real_root)
    return heavy


@contextmanager
def opened_way(tree: Path, path: str) -> Iterator[int]:
    """Open a directory of a tree; it is made, and so are those on the way, and what else stands there is removed."""
    at = os.open(tree, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in filter(None, os.fsencode(path).split(b"/")):
            status = status_at(at, name)
            if status is not None and not stat.S_ISDIR(status.st_mode):
                remove_entry(at, name)
                status = None
            if status is None:
                os.mkdir(name, 0o755, dir_fd=at)
            deeper = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
            os.close(at)
            at = deeper
        yield at
    finally:
        os.close(at)


@contextmanager
def _parent(tree: Path, path: str) -> Iterator[tuple[int, bytes]]:
    """Yield the directory that a path is in, and its name there; -1 where no directory of the tree is."""
    above, _, name = path.rstrip("/").rpartition("/")
    directory = -1
    with opened_root(tree) as root:
        try:
            directory = open_in_root(root, above or "/", os.O_RDONLY | os.O_DIRECTORY, follow=False)
        except OSError:
            directory = -1
    try:
        yield directory if name else -1, os.fsencode(name)
    finally:
        if directory >= 0:
            os.close(directory)


def remove_entry(directory: int, name: bytes) -> None:
    """Remove what has a name in a directory, with all that lies in it; nothing need be there."""
    status = status_at(directory, name)
    if status is None:
        return
    if stat.S_ISDIR(status.st_mode):
        remove_tree(_path(directory, name))
    else:
        os.unlink(name, dir_fd=directory)


def _path(directory: int, name: bytes) -> Path:
    return Path(f"/proc/self/fd/{directory}", os.fsdecode(name))


def _make_parents(tree: Path, image: Path, path: str, *, real_root: bool) -> None:
    """Make directories on the way to a path that are missing as the image has them; what else is there stays."""
    parts = path.strip("/").split("/")
    for end in range(1, len(parts)):
        above = "/".join(["", *parts[:end]])
        with _parent(tree, above) as (new, name), _parent(image, above) as (old, _):
            if new < 0 or old < 0 or status_at(new, name) is not None:
                continue
            status = status_at(old, name)
            if status is not None and stat.S_ISDIR(status.st_mode):
                os.mkdir(name, 0o700, dir_fd=new)
                _dress(old, new, name, status, real_root=real_root)


def _is_heavy(image: Path, path: str) -> bool:
    size = 0
    with opened_root(image) as root:
        top = open_in_root(root, path, os.O_RDONLY | os.O_DIRECTORY, follow=False)
        try:
            for _, _, _, status in walk(top):
                size += status.st_size
                if size > _HEAVY:
                    return True
        finally:
            os.close(top)
    return False


def _copy(old: int, new: int, name: bytes, status: os.stat_result, *, real_root: bool) -> None:
    owner = None if real_root else (0, 0)
    if stat.S_ISDIR(status.st_mode):
        replicate(_path(old, name), _path(new, name), owner=owner, choose=_chosen(real_root))
    else:
        copy_entry(old, name, new, name, status, owner=owner, choose=_chosen(real_root))


def _dress(old: int, new: int, name: bytes, status: os.stat_result, *, real_root: bool) -> None:
    """Give a directory owner, attributes, mode and times of another one."""
    if real_root:
        set_owner(new, name, status)
    copy_attributes(old, name, new, name, _chosen(real_root))
    os.chmod(name, stat.S_IMODE(status.st_mode), dir_fd=new)
    set_times(new, name, status)


def _chosen(real_root: bool) -> Chooser:
    """Return which attributes can be set: in a user namespace those of the machine's users mean nothing."""
    return is_visible if real_root else _is_anybodys


def _is_anybodys(attribute: str) -> bool:
    return attribute.startswith("user.") and is_visible(attribute)
