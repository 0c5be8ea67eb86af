"""The files of an image, looked up in its layers from the host, without mounting anything.

The layers are as overlayfs keeps an upper directory (Documentation/filesystems/overlayfs.rst): a character device 0/0
removes a name, an opaque directory hides what lies below it. Links are followed inside the image alone.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence

_FOLLOWED = 40  # links, as in the kernel (MAXSYMLINKS)
_OPAQUE = ("trusted.overlay.opaque", "user.overlay.opaque")
_REDIRECT = ("trusted.overlay.redirect", "user.overlay.redirect")
_WHITEOUT = ("trusted.overlay.whiteout", "user.overlay.whiteout")


class ImageTree:
    """What an image has at a path.

    Args:
        layers: Host directories, lowest first (`termgym.image.Image.layers`).
    """

    def __init__(self, layers: Sequence[str]) -> None:
        self._layers = tuple(reversed(layers))  # the topmost first
        self._real: dict[str, str | None] = {"/": "/"}
        self._parts: dict[str, tuple[str, ...]] = {}
        self._names: dict[str, frozenset[str]] = {}

    def status(self, path: str) -> os.stat_result | None:
        """Return the status of a path, the last link not followed, or None where there is nothing."""
        place = self._place(path)
        return None if place is None else os.lstat(place)

    def has(self, path: str) -> bool:
        """Return whether there is anything at a path."""
        return self._place(path) is not None

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a regular file, or None."""
        place = self._place(path)
        if place is None or not stat.S_ISREG(os.lstat(place).st_mode):
            return None
        with open(place, "rb") as file:
            return file.read()

    def names(self, path: str) -> frozenset[str]:
        """Return what is in a directory; nothing where there is none."""
        directory = self.resolve(path)
        if directory is None:
            return frozenset()
        if directory not in self._names:
            self._names[directory] = frozenset(self._listed(directory))
        return self._names[directory]

    def resolve(self, path: str) -> str | None:
        """Return the real path behind every link, or None where it leads nowhere."""
        if path not in self._real:
            self._real[path] = self._resolved(path, _FOLLOWED)
        return self._real[path]

    def _resolved(self, path: str, links: int) -> str | None:
        real = "/"
        parts = [part for part in path.split("/") if part not in ("", ".")]
        while parts:
            name = parts.pop(0)
            if name == "..":
                real = os.path.dirname(real)
                continue
            place = self._found(os.path.join(real, name))
            if place is None:
                return None
            if os.path.islink(place):
                links -= 1
                if links < 0:
                    return None
                target = os.readlink(place)
                real = "/" if target.startswith("/") else real
                parts[:0] = [part for part in target.split("/") if part not in ("", ".")]
            else:
                real = os.path.join(real, name)
        return real

    def _place(self, path: str) -> str | None:
        """Return where on the host a path lies, its last part taken as it is."""
        above, name = os.path.split(os.path.normpath(path))
        directory = self.resolve(above)
        return None if directory is None else self._found(os.path.join(directory, name))

    def _found(self, real: str) -> str | None:
        """Return the host's path of ``real``, above which nothing is a link."""
        name = os.path.basename(real)
        for directory in self._reach(os.path.dirname(real)):
            place = os.path.join(directory, name)
            status = _lstat(place)
            if status is not None:
                return None if _is_whiteout(place, status) else place
        return None

    def _reach(self, real: str) -> tuple[str, ...]:
        """Return the layers' directories that make up ``real``, the topmost first."""
        if real not in self._parts:
            self._parts[real] = tuple(self._reached([part for part in real.split("/") if part]))
        return self._parts[real]

    def _reached(self, parts: list[str]) -> Iterator[str]:
        for directory in self._layers:
            opaque = False
            below: list[str] = []
            for index, part in enumerate(parts):
                directory = os.path.join(directory, part)
                status = _lstat(directory)
                if status is None:
                    below += parts[index:]
                    break
                if not stat.S_ISDIR(status.st_mode):  # removed here, or something else
                    return
                opaque = opaque or bool(_mark(directory, _OPAQUE))
                below = _continued(below, part, _mark(directory, _REDIRECT))
            else:
                yield directory
            if opaque:
                return
            parts = below

    def _listed(self, real: str) -> Iterator[str]:
        gone: set[str] = set()
        for directory in self._reach(real):
            for entry in os.scandir(directory):
                if entry.name not in gone:
                    gone.add(entry.name)
                    if not _is_whiteout(entry.path, entry.stat(follow_symlinks=False)):
                        yield entry.name


def _lstat(place: str) -> os.stat_result | None:
    try:
        return os.lstat(place)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _is_whiteout(place: str, status: os.stat_result) -> bool:
    if stat.S_ISCHR(status.st_mode):
        return status.st_rdev == 0
    return stat.S_ISREG(status.st_mode) and status.st_size == 0 and _mark(place, _WHITEOUT) is not None


def _continued(above: list[str], name: str, redirect: bytes | None) -> list[str]:
    """Return where a directory goes on in the layers below: a renamed one says it."""
    if redirect is None:
        return [*above, name]
    target = os.fsdecode(redirect)
    parts = [part for part in target.split("/") if part]
    return parts if target.startswith("/") else [*above, *parts]


def _mark(place: str, names: Sequence[str]) -> bytes | None:
    for name in names:
        try:
            return os.getxattr(place, name, follow_symlinks=False)
        except OSError as error:
            if error.errno not in (errno.ENODATA, errno.ENOTSUP, errno.EPERM, errno.EACCES):
                raise
    return None
