"""Snapshots by overlayfs: writes go to a layer in memory, restoring throws the layer away.

Both restore and diff cost what was changed, whatever the size of the tree. As root the layer keeps renamed directories
and hard links (``redirect_dir``, ``index``) and copies metadata without content (``metacopy``). In a user namespace the
kernel allows none of the three (``userxattr`` excludes them), and three things are not as on a plain disk:

- ``rename(2)`` of a directory of the base fails with EXDEV (``mv`` then copies, other programs may not);
- writing to a file of the base that has several hard links parts it from its other names;
- a hard link to a file of the base is one file with it, but shows another inode number until the next mount.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from uuid import uuid4

from termgym.errors import SnapshotError
from termgym.snapshot.baseline import baseline
from termgym.snapshot.change import Change
from termgym.snapshot.comparison import Pair, Side, Touched
from termgym.snapshot.copying import copy_attributes, remove_tree, replicate, set_owner, set_times
from termgym.snapshot.departure import digester
from termgym.snapshot.diff import changes_in
from termgym.snapshot.entry import attribute_names, is_visible
from termgym.snapshot.keeping import find_copy
from termgym.snapshot.layers import Ground, mount_layers
from termgym.snapshot.mounting import MS_NODEV, MS_NOSUID, mount, mount_options, option_value, unmount
from termgym.snapshot.owners import plainly
from termgym.snapshot.walking import handle, join, names_in, opened, opened_root, status_at

FEATURES: Mapping[str, bytes] = {
    "overlay": b"redirect_dir=on,index=on,metacopy=on",
    "overlay-userns": b"userxattr",
}
_GROUND_FEATURES: Mapping[str, bytes] = {
    "overlay": b"redirect_dir=on,index=off,metacopy=on",
    "overlay-userns": b"userxattr",
}
"""On an image's layers: not every stack of them can be indexed, and docker's never is, so none is."""
_PREFIX = {"overlay": "trusted.overlay.", "overlay-userns": "user.overlay."}
DEFAULT_SIZE = 2 << 30
"""How much an agent may write, where nobody says otherwise [bytes]."""
_INODE_BYTES = 4096  # one inode a page of the size, as tmpfs(5) does for the machine's memory
_LEAST_INODES = 1 << 18


class OverlaySnapshot:
    """A base tree under a writable layer in memory."""

    def __init__(
        self, base: Path, work: Path, *, backend: str, size_bytes: int | None = None, ground: Ground | None = None
    ) -> None:
        self.name = backend
        self._ground = ground
        self.base = base
        self.live = work / "live"
        self._layer = work / "layer"
        self._kept = work / "kept"
        self._size = DEFAULT_SIZE if size_bytes is None else size_bytes
        self._prefix = _PREFIX[backend]
        self._features = FEATURES[backend] if ground is None else _GROUND_FEATURES[backend]
        self._indexed = b"index=on" in self._features
        self._baseline = baseline(base)
        self._mounted: list[Path] = []
        for directory in (self.live, self._layer, self._kept):
            directory.mkdir()
        try:
            self._mount_layer()
            self._mount_live()
            self._require_features()
        except OSError:
            self.close()
            raise

    def restore(self) -> None:
        """Throw away the layer and mount an empty one; what still runs keeps the old tree and never sees the new."""
        self._unmount()
        self._mount_layer()
        self._mount_live()

    def diff(self) -> tuple[Change, ...]:
        """Return what differs between base and live, sorted."""
        with self._pairs() as pairs:
            return changes_in(self._baseline, pairs)

    def digest(self) -> str:
        """Return the Merkle digest of the live tree; on an image, that of its departure from it."""
        digest = digester(self._ground, self._baseline)
        with self._pairs() as pairs:
            return digest(pairs)

    @contextmanager
    def _pairs(self) -> Iterator[Iterator[Pair]]:
        """Yield the pairs that may differ, for the time of the block."""
        touched, inodes = self._touched()
        with plainly(self._ground is not None), self._baseline.opened() as before, opened_root(self.live) as root:
            live = Side(root, inodes=inodes, path=os.fsencode(self.live))
            yield self._baseline.pairs(before, live, touched)

    @contextmanager
    def aside(self) -> Iterator[Path]:
        """Yield the live tree below a layer that is thrown away afterwards, with all that was written meanwhile."""
        work = self.live.parent
        shown, layer = work / "aside", work / "aside-layer"
        layers = (self.base,) if self._ground is None else self._ground.layers
        with ExitStack() as undo:
            for directory in (shown, layer):
                directory.mkdir()
                undo.callback(directory.rmdir)
            _mount_memory(layer, max(self._size, DEFAULT_SIZE))
            undo.callback(unmount, os.fsencode(layer))
            upper_work = layer / "upper", layer / "work"
            _dress_root(self.live, *upper_work)
            mount_layers(shown, (self._layer / "upper", *layers), *upper_work, features=_GROUND_FEATURES[self.name])
            undo.callback(unmount, os.fsencode(shown))
            yield shown

    def save(self) -> str:
        """Keep a copy of the layer."""
        token = uuid4().hex
        replicate(self._layer, self._kept / token, choose=self._is_kept)
        return token

    def load(self, token: str) -> None:
        """Replace the layer by a copy that ``save`` kept."""
        kept = find_copy(self._kept, token)
        self._unmount()
        self._mount_tmpfs()
        replicate(kept, self._layer, choose=self._is_kept)
        self._mount_live()

    def forget(self, token: str) -> None:
        """Free the copy that ``save`` kept."""
        remove_tree(find_copy(self._kept, token))

    def close(self) -> None:
        """Unmount and remove everything but the base; may be called again."""
        self._unmount()
        if self._kept.exists():
            remove_tree(self._kept)
        for directory in (self.live, self._layer):
            if directory.exists():
                directory.rmdir()

    def _mount_tmpfs(self) -> None:
        _mount_memory(self._layer, self._size)
        self._mounted.append(self._layer)

    def _mount_layer(self) -> None:
        """Mount an empty layer. The root of the live tree is that of the layer, so it has to look like the base's."""
        self._mount_tmpfs()
        _dress_root(self.base, self._layer / "upper", self._layer / "work")

    def _mount_live(self) -> None:
        upper_work = self._layer / "upper", self._layer / "work"
        if self._ground is not None:
            mount_layers(self.live, self._ground.layers, *upper_work, features=self._features)
        else:
            lower, upper, work = (option_value(os.fsencode(path)) for path in (self.base, *upper_work))
            options = b"lowerdir=%s,upperdir=%s,workdir=%s,%s" % (lower, upper, work, self._features)
            mount("overlay", os.fsencode(self.live), "overlay", MS_NODEV, options)
        self._mounted.append(self.live)

    def _unmount(self) -> None:
        while self._mounted:
            unmount(os.fsencode(self._mounted[-1]))
            self._mounted.pop()

    def _require_features(self) -> None:
        """Check that the kernel took the options: it drops some silently where a filesystem does not support them."""
        effective = mount_options(os.fsencode(self.live))
        missing = sorted(set(self._features.split(b",")) - effective)
        for feature in missing:
            name, _, value = feature.partition(b"=")
            if value == b"off" and name + b"=on" not in effective:
                continue
            if value and name + b"=off" not in effective and _is_default(name.decode()):
                continue  # not shown, because it is what the module does anyway
            raise SnapshotError(
                f"overlayfs on {str(self.base)!r} ignored the option {feature.decode()!r}; "
                "put the base on tmpfs, ext4, xfs or btrfs, or choose backend='manifest'"
            )

    def _is_kept(self, attribute: str) -> bool:
        """Return whether an attribute goes into a copy of the layer: all but the one that names the original."""
        return is_visible(attribute) or (attribute.startswith(self._prefix) and attribute != self._prefix + "upper")

    def _touched(self) -> tuple[Touched, dict[bytes, tuple[int, int]]]:
        """Return what the layer holds, and the true inodes of its linked files where the mount shows others."""
        touched = Touched()
        inodes: dict[bytes, tuple[int, int]] = {}
        pending = [b""]
        with opened_root(self._layer / "upper") as root:
            while pending:
                path = pending.pop()
                with opened(root, path) as directory:
                    names = names_in(directory)
                    touched.named[path] = set(names)
                    pending.extend(
                        join(path, name)
                        for name in names
                        if self._note(touched, inodes, directory, join(path, name), name)
                    )
        return touched, inodes

    def _note(
        self, touched: Touched, inodes: dict[bytes, tuple[int, int]], directory: int, path: bytes, name: bytes
    ) -> bool:
        """Note what an entry of the layer and its marks say; return whether to look into it."""
        status = status_at(directory, name)
        if status is None:
            return False
        if stat.S_ISDIR(status.st_mode):
            if self._is_detached(handle(directory, name)):
                touched.whole.add(path)
                return not self._indexed
            return True
        if status.st_nlink > 1 and not self._indexed:
            inodes[path] = (0, status.st_ino)  # no filesystem has the device number 0
        if stat.S_ISREG(status.st_mode) and status.st_size and not status.st_blocks:
            marks = attribute_names(handle(directory, name))
            if self._prefix + "metacopy" in marks and self._prefix + "redirect" not in marks:
                touched.same_bytes.add(path)
        return False

    def _is_detached(self, path: bytes) -> bool:
        """Return whether a directory of the layer does not lie over the base's directory of the same path."""
        marks = attribute_names(path)
        if self._prefix + "redirect" in marks:
            return True
        return self._prefix + "opaque" in marks and os.getxattr(path, self._prefix + "opaque") == b"y"


def _mount_memory(target: Path, size: int) -> None:
    inodes = max(size // _INODE_BYTES, _LEAST_INODES)
    options = b"mode=0700,size=%d,nr_inodes=%d" % (size, inodes)
    mount("tmpfs", os.fsencode(target), "tmpfs", MS_NODEV | MS_NOSUID, options)


def _dress_root(like: Path, upper: Path, work: Path) -> None:
    """Make the two directories of a layer, of which the upper one looks like the directory that it will cover."""
    work.mkdir()
    upper.mkdir()
    with opened_root(like) as source, opened_root(upper) as target:
        status = os.stat(source)
        set_owner(target, b".", status)
        os.chmod(target, stat.S_IMODE(status.st_mode))
        copy_attributes(source, b".", target, b".", is_visible)
        set_times(target, b".", status)


def _is_default(option: str) -> bool:
    """Return whether the overlay module does this without being told."""
    return Path("/sys/module/overlay/parameters", option).read_text().strip() == "Y"
