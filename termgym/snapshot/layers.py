"""Layers of an image put together by overlayfs: as one read-only tree to compare with, and below a writable one.

The lowest may be this machine's own ``/usr``; what lies above leads to it by overlayfs's redirects.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from termgym.errors import SnapshotError
from termgym.snapshot.mounting import MS_NODEV, MS_NOSUID, MS_RDONLY, mount, unmount


@dataclass(frozen=True, slots=True)
class Ground:
    """What the live tree of an image stands on."""

    id: str
    """Of the image: two grounds with the same one hold the same files."""
    layers: tuple[Path, ...]
    """Highest first, as overlayfs takes them."""


def mount_layers(
    target: Path, layers: Sequence[Path], upper: Path | None = None, work: Path | None = None, *, features: bytes = b""
) -> None:
    """Mount layers, highest first, on a directory; read-only where there is no ``upper``.

    They are named by descriptors: paths of a hundred layers would not fit into the page that mount(2) takes, and they
    would tell the agent where things lie on the host.

    Args:
        target: where.
        layers: at least two, or one below an ``upper``.
        upper: what is written goes there.
        work: beside it on the same filesystem.
        features: further options of overlayfs.

    Raises:
        OSError: as mount(2).
    """
    with ExitStack() as opened:

        def named(path: Path) -> bytes:
            fd = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
            opened.callback(os.close, fd)
            return b"/proc/self/fd/%d" % fd

        options = [b"lowerdir=" + b":".join(map(named, layers))]
        if upper is not None and work is not None:
            options += [b"upperdir=" + named(upper), b"workdir=" + named(work)]
        flags = MS_NODEV | MS_NOSUID | (MS_RDONLY if upper is None else 0)
        mount("overlay", os.fsencode(target), "overlay", flags, b",".join([*options, *filter(None, [features])]))


class Stack:
    """The layers of one image, mounted read-only as ``whole``.

    Args:
        layers: highest first.
        directory: a new directory on a memory filesystem that belongs to this process.
        redirects: whether overlayfs follows redirects here; in a user namespace it does not.

    Raises:
        SnapshotError: overlayfs cannot put them together here; says what helps.
    """

    def __init__(self, layers: Sequence[Path], directory: Path, *, redirects: bool) -> None:
        self.whole = directory / "whole"
        self._mounted = False
        features = b"redirect_dir=follow" if redirects else b"userxattr"
        nothing = directory / "nothing"
        for made in (directory, self.whole, nothing):
            made.mkdir()
        missing = [str(layer) for layer in layers if not layer.is_dir()]
        if missing:
            raise SnapshotError(f"layer {missing[0]!r} of the image is not there (any more); build the image again")
        self.layers = tuple(layers)
        """As they can be mounted again."""
        # Without a layer to write to, overlayfs wants two to read from.
        shown = self.layers if len(self.layers) > 1 else (*self.layers, nothing)
        try:
            mount_layers(self.whole, shown, features=features)
            self._mounted = True
        except OSError as error:
            raise SnapshotError(
                f"overlayfs does not put the {len(layers)} layers of the image together ({error}); in a container keep "
                "the store of images on a volume (ROLF_CACHE names the place), or run as its root"
            ) from error

    def close(self) -> None:
        """Unmount; may be called again."""
        if self._mounted:
            unmount(os.fsencode(self.whole))
            self._mounted = False
