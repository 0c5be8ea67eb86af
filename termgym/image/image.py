"""Image: a root filesystem that was built, as layers on this machine, and how programs start in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Image:
    """Layers, lowest first, and the configuration that a Dockerfile gives to what runs in them."""

    id: str
    """Hex SHA-256 of what went in: the same recipe over the same base has the same id."""
    layers: tuple[str, ...]
    """Host directories, lowest first, each as overlayfs keeps an upper directory: a character device 0/0 removes a
    name, an opaque mark hides what lies below. ``/usr`` as the lowest is this machine's own system: the layer above it
    redirects ``usr`` to it, so mount with ``redirect_dir=follow`` or ``on``."""
    env: Mapping[str, str] = field(default_factory=dict, hash=False)
    """``ENV``."""
    workdir: str = "/"
    """``WORKDIR``: where the shell starts."""
    user: str = ""
    """``USER`` as written: a name or number, perhaps with a group after a colon; empty: root."""
    shell: tuple[str, ...] = ("/bin/sh", "-c")
    """``SHELL``: what the shell form of ``RUN`` was given to."""
    notes: tuple[str, ...] = ()
    """What the build ignored or did otherwise than docker would, for people."""
