"""Stacking: how an image's layers become the lower directories of an overlay mount.

As the machine's root they are given to overlayfs as they are, with ``redirect_dir=follow`` (or ``on``). In a user
namespace overlayfs follows no redirects, so where the host's system is the lowest layer, a mount of ``/`` that shows
nothing but ``/usr`` stands in for it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from termgym.image.hostbase import HOST
from termgym.image.marks import whiteout
from termgym.sandbox import syscalls


def lower_directories(layers: Sequence[str], room: Path, *, privileged: bool) -> tuple[str, ...]:
    """Return what to give to overlayfs as lower directories, lowest first.

    Args:
        layers: an image's.
        room: an empty directory; something may be mounted on it, so call this in a mount namespace of one's own.
        privileged: whether the caller is the machine's root and not that of a user namespace.
    """
    if privileged or HOST not in layers[:1]:
        return tuple(layers)
    syscalls.mount("tmpfs", room, "tmpfs", 0, "mode=0755,size=4m")
    hidden, system = room / "hidden", room / "system"
    hidden.mkdir()
    system.mkdir()
    for name in os.listdir("/"):
        if f"/{name}" != HOST:
            whiteout(hidden / name)
    syscalls.mount("overlay", system, "overlay", 0, f"lowerdir={hidden}:/,userxattr")
    return (str(system), *layers[1:])
