"""Flattening: many layers become one, before overlayfs has too many to stack."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

from termgym.image.hostbase import HOST
from termgym.image.marks import is_opaque, is_whiteout, set_opaque
from termgym.image.state import State, digest
from termgym.image.store import Store

MOST_LAYERS = 64
"""A live tree adds its own; overlayfs takes 500, and each makes opening a file a little slower."""


def flatten(state: State, store: Store) -> None:
    """Replace the layers above the base by one that shows the same."""
    base = 2 if state.layers[0] == HOST else 1
    key = digest(["flat", state.key])[:32]
    target = store.layer(key)
    if not target.is_dir():
        with store.locked(key), store.scratch() as place:
            if not target.is_dir():
                (place / "tree").mkdir()
                for layer in state.layers[base:]:
                    _pour(Path(layer), place / "tree", store.prefix)
                store.keep(place / "tree", target)
    state.layers[base:] = [str(target)]


def _pour(source: Path, target: Path, prefix: str) -> None:
    """Lay the entries of one layer over those of another; files become hard links, for nobody writes to a layer."""
    for entry in os.scandir(source):
        place = target / entry.name
        status = entry.stat(follow_symlinks=False)
        if not stat.S_ISDIR(status.st_mode):
            hides = is_whiteout(status)
            _clear(place)
            if hides:
                os.mknod(place, stat.S_IFCHR, 0)
            else:
                os.link(entry.path, place, follow_symlinks=False)
            continue
        hidden = is_opaque(entry.path, prefix) or (os.path.lexists(place) and not _is_directory(place))
        if hidden or not os.path.lexists(place):
            _clear(place)
            place.mkdir()
        _pour(Path(entry.path), place, prefix)
        _dress(Path(entry.path), place, status)
        if hidden:
            set_opaque(place, prefix)
    _dress(source, target, source.stat())


def _dress(source: Path, target: Path, status: os.stat_result) -> None:
    """Make a directory look like another one."""
    if os.geteuid() == 0:
        os.chown(target, status.st_uid, status.st_gid)
    target.chmod(stat.S_IMODE(status.st_mode))
    for name in os.listxattr(source):
        if not name.endswith((".origin", ".impure", ".uuid")):
            os.setxattr(target, name, os.getxattr(source, name))
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))


def _clear(place: Path) -> None:
    if _is_directory(place):
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)


def _is_directory(place: Path) -> bool:
    return place.is_dir() and not place.is_symlink()
