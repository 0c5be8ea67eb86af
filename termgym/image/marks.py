"""Marks: how overlayfs says in a layer that a name is gone, or that a directory hides what lies below it."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def whiteout(path: Path) -> None:
    """Mark a name as gone. Any user may make this one device (Linux 5.8)."""
    os.mknod(path, stat.S_IFCHR, 0)


def is_whiteout(status: os.stat_result) -> bool:
    """Return whether an entry of a layer says that its name is gone."""
    return stat.S_ISCHR(status.st_mode) and status.st_rdev == 0


def set_opaque(directory: Path, prefix: str) -> None:
    """Let a directory of a layer hide what lower layers have under its name."""
    os.setxattr(directory, prefix + "opaque", b"y")


def is_opaque(directory: str, prefix: str) -> bool:
    """Return whether a directory of a layer hides what lies below."""
    return _mark(directory, prefix + "opaque") == b"y"


def redirect(directory: Path, place: str, prefix: str) -> None:
    """Let a directory of a layer continue, in the layers below it, at another place (``redirect_dir``)."""
    os.setxattr(directory, prefix + "redirect", os.fsencode(place))


def _mark(path: str, name: str) -> bytes | None:
    try:
        return os.getxattr(path, name, follow_symlinks=False)
    except OSError:
        return None
