"""What one path is: its kind, its attributes, its content."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Mapping

_KINDS = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "dir",
    stat.S_IFLNK: "symlink",
    stat.S_IFIFO: "fifo",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "char-device",
    stat.S_IFBLK: "block-device",
}
_ATTRIBUTES = ("user.", "security.", "system.posix_acl_")
_OVERLAY_ATTRIBUTES = "user.overlay."
# Labels that the machine puts on files by itself; they say where a tree lies, not what was done to it.
_MACHINE_ATTRIBUTES = frozenset({"security.selinux", "security.SMACK64", "security.ima", "security.evm"})

WHOLE_LIMIT = 64 << 20
"""Up to this size the content digest is the plain SHA-256; above, blocks of zeros are skipped [bytes]."""
_BLOCK = 1 << 20
_ZEROS = bytes(_BLOCK)
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def kind_of(mode: int) -> str:
    """Return ``file``, ``dir``, ``symlink``, ``fifo``, ``socket``, ``char-device`` or ``block-device``."""
    return _KINDS[stat.S_IFMT(mode)]


def attributes(path: bytes) -> Mapping[str, bytes]:
    """Return the extended attributes that belong to the agent's world: ``user.*``, ``security.*`` and POSIX ACLs."""
    found = {}
    for key in attribute_names(path):
        if is_visible(key):
            try:
                found[key] = os.getxattr(path, key, follow_symlinks=False)
            except OSError as error:
                if error.errno != errno.ENODATA:  # removed since it was listed
                    raise
    return found


def attribute_names(path: bytes) -> list[str]:
    """Return the names of all extended attributes of a path itself; none where the filesystem has none."""
    try:
        return os.listxattr(path, follow_symlinks=False)
    except OSError as error:
        if error.errno == errno.ENOTSUP:
            return []
        raise


def is_visible(attribute: str) -> bool:
    """Return whether an extended attribute is compared and copied."""
    return (
        attribute.startswith(_ATTRIBUTES)
        and not attribute.startswith(_OVERLAY_ATTRIBUTES)
        and attribute not in _MACHINE_ATTRIBUTES
    )


def link_target(directory: int, name: bytes) -> bytes:
    """Return the target of a symbolic link.

    Raises:
        FileNotFoundError: it is gone, or something else took its place since it was looked at.
    """
    try:
        return os.readlink(name, dir_fd=directory)
    except OSError as error:
        if error.errno == errno.EINVAL:
            raise FileNotFoundError(errno.ENOENT, "not a symbolic link any more", os.fsdecode(name)) from error
        raise


def open_file(directory: int, name: bytes) -> tuple[int, os.stat_result]:
    """Open a regular file for reading; return its descriptor and status.

    Raises:
        FileNotFoundError: it is gone, or something else took its place since it was looked at.
    """
    try:
        descriptor = os.open(name, _READ, dir_fd=directory)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):
            raise FileNotFoundError(errno.ENOENT, "not a regular file any more", os.fsdecode(name)) from error
        raise
    status = os.fstat(descriptor)
    if stat.S_ISREG(status.st_mode):
        return descriptor, status
    os.close(descriptor)
    raise FileNotFoundError(errno.ENOENT, "not a regular file any more", os.fsdecode(name))


def read_file(directory: int, name: bytes) -> bytes:
    """Return the bytes of a regular file that is known to be small."""
    descriptor, status = open_file(directory, name)
    try:
        return b"".join(_pieces(descriptor, 0, status.st_size))
    finally:
        os.close(descriptor)


def content_digest(directory: int, name: bytes) -> bytes:
    """Return the digest of a regular file's bytes; holes and written zeros are the same.

    Files above ``WHOLE_LIMIT`` are digested by their blocks that are not zero, because a sparse file of a terabyte
    takes an agent one command and a plain hash ten minutes.
    """
    descriptor, status = open_file(directory, name)
    try:
        size = status.st_size
        if size <= _BLOCK:
            return hashlib.sha256(os.pread(descriptor, size, 0)).digest()
        state = hashlib.sha256()
        if size <= WHOLE_LIMIT:
            for piece in _pieces(descriptor, 0, size):
                state.update(piece)
            return state.digest()
        state.update(b"%d bytes in blocks\0" % size)
        for start in _written_blocks(descriptor, size):
            block = b"".join(_pieces(descriptor, start, min(start + _BLOCK, size)))
            if block != _ZEROS[: len(block)]:
                state.update(b"%d\0" % start + hashlib.sha256(block).digest())
        return state.digest()
    finally:
        os.close(descriptor)


def _pieces(descriptor: int, start: int, end: int) -> Iterator[bytes]:
    """Yield the bytes from start to end, or to the end of a file that shrinks meanwhile."""
    while start < end and (piece := os.pread(descriptor, min(_BLOCK, end - start), start)):
        yield piece
        start += len(piece)


def _written_blocks(descriptor: int, size: int) -> Iterator[int]:
    """Yield the offsets of the blocks that are not holes as a whole."""
    following = 0
    for begin, end in data_extents(descriptor, size):
        following = max(following, begin - begin % _BLOCK)
        while following < end:
            yield following
            following += _BLOCK


def data_extents(descriptor: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield where a file holds data, as (begin, end) [bytes]; the rest are holes."""
    begin = 0
    while begin < size:
        try:
            begin = os.lseek(descriptor, begin, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:  # only a hole is left
                return
            raise
        end = min(os.lseek(descriptor, begin, os.SEEK_HOLE), size)
        yield begin, end
        begin = end
