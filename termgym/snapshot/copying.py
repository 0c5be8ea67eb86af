"""Exact copies of trees: hard links, extended attributes, holes, times; any name, any depth."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

from termgym.errors import SnapshotError
from termgym.snapshot.entry import attribute_names, data_extents, is_visible, open_file
from termgym.snapshot.flags import clear_flags
from termgym.snapshot.unlocking import overrides_modes, unlock, unlocked
from termgym.snapshot.walking import handle, names_in, open_directory, opened, opened_root, split, status_at, walk

Owner = tuple[int, int]
Chooser = Callable[[str], bool]

_SMALL = 1 << 20  # files up to this size are copied by one read and one write [bytes]
_NO_RANGES = frozenset({errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP})  # copy_file_range(2)
_EXTENT = 1 << 30  # most bytes that one copy_file_range(2) is asked for


def copy_tree(src: Path, dst: Path, owner: Owner | None = None) -> None:
    """Copy a tree so that nothing but inode numbers and change times tells it from the original.

    Args:
        src: the tree to copy.
        dst: where to; made if missing, else an empty directory.
        owner: user and group that all of the copy belongs to; None keeps each owner.

    Raises:
        SnapshotError: something could not be copied; says which path.
    """
    with unlocked(src) as modes:
        replicate(src, dst, owner=owner, choose=is_visible, modes=modes)


def replicate(
    src: Path,
    dst: Path,
    *,
    owner: Owner | None = None,
    choose: Chooser = is_visible,
    modes: Mapping[bytes, int] | None = None,
) -> None:
    """Copy a readable tree.

    Args:
        src: the tree to copy.
        dst: where to; made if missing, else an empty directory.
        owner: as for ``copy_tree``.
        choose: which extended attributes to copy.
        modes: modes by path, where they are not those on disk.
    """
    dst.mkdir(exist_ok=True)
    modes = modes or {}
    directories: list[tuple[bytes, os.stat_result]] = []
    first_names: dict[tuple[int, int], bytes] = {}
    with opened_root(src) as old_root, opened_root(dst) as new_root:
        if os.listdir(new_root):
            raise SnapshotError(f"{str(dst)!r} is not empty; a copy needs an empty or a missing directory")
        for path, directory, name, status in walk(old_root):
            try:
                _copy_one(path, directory, name, status, new_root, first_names, owner, choose, modes)
            except OSError as error:
                raise _cannot_copy(path, dst, error) from error
            if stat.S_ISDIR(status.st_mode):
                directories.append((path, status))
        for path, status in reversed(directories):  # last, because entries made later would move the mtime again
            _finish_directory(path, status, new_root, modes)


def _copy_one(
    path: bytes,
    directory: int,
    name: bytes,
    status: os.stat_result,
    new_root: int,
    first_names: dict[tuple[int, int], bytes],
    owner: Owner | None,
    choose: Chooser,
    modes: Mapping[bytes, int],
) -> None:
    """Copy one entry into a directory that exists already."""
    parent, last = split(path)
    with opened(new_root, parent) as target:
        if not path:
            copy_attributes(directory, name, target, b".", choose)
            set_owner(target, b".", status, owner)
            return
        inode = (status.st_dev, status.st_ino)
        if status.st_nlink > 1 and not stat.S_ISDIR(status.st_mode):
            first = first_names.setdefault(inode, path)
            if first != path:
                link(new_root, first, target, last)
                return
        copy_entry(directory, name, target, last, status, owner=owner, choose=choose, mode=modes.get(path))


def _finish_directory(path: bytes, status: os.stat_result, root: int, modes: Mapping[bytes, int]) -> None:
    parent, name = split(path)
    with opened(root, parent) as directory:
        os.chmod(name or b".", stat.S_IMODE(modes.get(path, status.st_mode)), dir_fd=directory)
        set_times(directory, name or b".", status)


def _cannot_copy(path: bytes, dst: Path, error: OSError) -> SnapshotError:
    advice = "; copy_tree(owner=...) gives all of a copy to one user" if isinstance(error, PermissionError) else ""
    return SnapshotError(f"cannot copy {'/' + os.fsdecode(path)!r} to {str(dst)!r}: {error}{advice}")


def link(root: int, first: bytes, directory: int, name: bytes) -> None:
    """Give a file of the tree one more name."""
    parent, last = split(first)
    with opened(root, parent) as source:
        os.link(last, name, src_dir_fd=source, dst_dir_fd=directory, follow_symlinks=False)


def copy_entry(
    directory: int,
    name: bytes,
    target: int,
    last: bytes,
    status: os.stat_result,
    *,
    owner: Owner | None = None,
    choose: Chooser = is_visible,
    mode: int | None = None,
) -> None:
    """Make a new entry like another one. Directories come empty, searchable, and without their times."""
    kind = stat.S_IFMT(status.st_mode)
    if kind == stat.S_IFDIR:
        os.mkdir(last, 0o700, dir_fd=target)
    elif kind == stat.S_IFLNK:
        os.symlink(os.readlink(name, dir_fd=directory), last, dir_fd=target)
    elif kind == stat.S_IFREG:
        os.close(os.open(last, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=target))
        copy_bytes(directory, name, target, last)
    else:
        os.mknod(last, kind | 0o600, status.st_rdev, dir_fd=target)
    set_owner(target, last, status, owner)
    # After the owner, because chown drops file capabilities; before the mode, because it may forbid to set them.
    copy_attributes(directory, name, target, last, choose)
    if kind not in (stat.S_IFLNK, stat.S_IFDIR):
        os.chmod(last, stat.S_IMODE(status.st_mode if mode is None else mode), dir_fd=target)
    if kind != stat.S_IFDIR:
        set_times(target, last, status)


def copy_bytes(directory: int, name: bytes, target: int, last: bytes) -> None:
    """Write the content of one file over another one that exists, keeping holes."""
    source, status = open_file(directory, name)
    try:
        sink = os.open(last, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=target)
        try:
            size = status.st_size
            if size > _SMALL or status.st_blocks * 512 < size:
                os.ftruncate(sink, 0)
                for begin, end in data_extents(source, size):
                    _copy_extent(source, sink, begin, end)
            elif content := os.pread(source, size, 0):
                os.pwrite(sink, content, 0)
            os.ftruncate(sink, size)
        finally:
            os.close(sink)
    finally:
        os.close(source)


def _copy_extent(source: int, sink: int, begin: int, end: int) -> None:
    while begin < end:
        try:
            done = os.copy_file_range(source, sink, min(end - begin, _EXTENT), begin, begin)
        except OSError as error:
            if error.errno not in _NO_RANGES:
                raise
            done = os.pwrite(sink, os.pread(source, min(end - begin, _SMALL), begin), begin)
        if not done:  # the source became shorter
            return
        begin += done


def copy_attributes(directory: int, name: bytes, target: int, last: bytes, choose: Chooser) -> None:
    """Make the extended attributes of one entry those of another one, as far as they are chosen."""
    source, sink = handle(directory, name), handle(target, last)
    wanted = {key: os.getxattr(source, key, follow_symlinks=False) for key in attribute_names(source) if choose(key)}
    there = {key for key in attribute_names(sink) if choose(key)}
    for key in there - wanted.keys():
        os.removexattr(sink, key, follow_symlinks=False)
    for key, value in sorted(wanted.items(), key=_acl_last):
        if key not in there or os.getxattr(sink, key, follow_symlinks=False) != value:
            os.setxattr(sink, key, value, follow_symlinks=False)


def _acl_last(attribute: tuple[str, bytes]) -> bool:
    """Sort an ACL behind the rest: it may take away the permission to set the rest."""
    return attribute[0].startswith("system.")


def set_owner(directory: int, name: bytes, status: os.stat_result, owner: Owner | None = None) -> None:
    """Give an entry its owner."""
    uid, gid = owner or (status.st_uid, status.st_gid)
    now = os.stat(name, dir_fd=directory, follow_symlinks=False)
    if (now.st_uid, now.st_gid) != (uid, gid):
        os.chown(name, uid, gid, dir_fd=directory, follow_symlinks=False)


def set_times(directory: int, name: bytes, status: os.stat_result) -> None:
    """Give an entry the access and modification time of another one."""
    os.utime(name, ns=(status.st_atime_ns, status.st_mtime_ns), dir_fd=directory, follow_symlinks=False)


def freeze_times(tree: Path, epoch: float) -> None:
    """Set the access and modification time of everything in a tree to one moment [s since 1970]."""
    moment = round(epoch * 10**9)
    with unlocked(tree), opened_root(tree) as root:
        for _, directory, name, _ in walk(root):
            os.utime(name, ns=(moment, moment), dir_fd=directory, follow_symlinks=False)


def remove_tree(tree: Path) -> None:
    """Remove a directory with everything in it, whatever its modes and flags say."""
    with opened_root(tree) as root:
        if not overrides_modes():
            unlock(root)
        try:
            remove_entries(root, b"")
        except PermissionError:
            for _, directory, name, status in walk(root):
                clear_flags(directory, name, status.st_mode)
            remove_entries(root, b"")
    tree.rmdir()


def remove_entries(root: int, path: bytes) -> None:
    """Remove everything in a directory of a tree, but not the directory."""
    directories = [path]
    for at in directories:  # grows while it is walked: parents come before what is in them
        with opened(root, at) as directory:
            for name in names_in(directory):
                status = status_at(directory, name)
                if status is None:
                    continue
                if stat.S_ISDIR(status.st_mode):
                    directories.append(at + b"/" + name if at else name)
                else:
                    os.unlink(name, dir_fd=directory)
    for at in reversed(directories[1:]):
        parent, name = split(at)
        descriptor = open_directory(root, parent)
        try:
            os.rmdir(name, dir_fd=descriptor)
        finally:
            os.close(descriptor)
