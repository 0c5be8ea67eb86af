"""The store: where layers and root filesystems are kept on this machine, shared by every process of one user.

A layer is a directory named after what went into it. It is put together in a scratch folder and renamed to its place,
so that a name is either whole or not there. The directories above are closed to other users: what lies in a layer may
belong to root and be setuid.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from rolf.cache import VARIABLE, cache_directory
from termgym.errors import ImageError
from termgym.sandbox.cgroups import start_time
from termgym.snapshot.copying import remove_tree

_VERSION = "1"
_PLACES = ("layers", "roots", "scratch", "locks")
_LOCKS = 256


class Store:
    """A directory of layers: the user's cache directory, where no other is named."""

    def __init__(self, root: Path | None = None) -> None:
        try:
            place = root.absolute() if root else cache_directory()
            self.root = place / "images" / _VERSION
            self.root.mkdir(parents=True, exist_ok=True)
            self.root.chmod(0o700)
            for name in _PLACES:
                (self.root / name).mkdir(exist_ok=True)
        except OSError as error:
            raise ImageError(f"images cannot be kept ({error}); name another directory in {VARIABLE}") from error

    @cached_property
    def prefix(self) -> str:
        """The namespace of overlayfs's marks: ``trusted.overlay.`` for the machine's root, else ``user.overlay.``."""
        with self.scratch() as place:
            try:
                os.setxattr(place, "trusted.overlay.opaque", b"y")
            except OSError:
                return "user.overlay."
            return "trusted.overlay."

    @property
    def privileged(self) -> bool:
        """Whether files can be given to any user, as the machine's root can."""
        return self.prefix.startswith("trusted")

    def layer(self, key: str) -> Path:
        """Return where the layer of that key lies, or would."""
        return self.root / "layers" / key

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """Yield a new directory that is gone afterwards."""
        owner = f"{_pid_namespace()}-{os.getpid()}-{start_time(os.getpid())}-"
        place = Path(tempfile.mkdtemp(prefix=owner, dir=self.root / "scratch"))
        try:
            yield place
        finally:
            discard(place)

    @contextmanager
    def locked(self, key: str) -> Iterator[None]:
        """Let one process or thread at a time work at a key; what two keys share may be one lock."""
        number = int(key[:8], 16) % _LOCKS
        with open(self.root / "locks" / f"{number:02x}", "wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def keep(self, tree: Path, target: Path) -> None:
        """Give a finished tree its name; one that is already there stays."""
        tree.chmod(0o755)
        try:
            tree.rename(target)
        except OSError:
            if not target.is_dir():
                raise

    def tidy(self) -> None:
        """Remove what builds that were killed left behind."""
        for place in (self.root / "scratch").iterdir():
            namespace, pid, started, _ = place.name.split("-", 3)
            if namespace == _pid_namespace() and not _runs(int(pid), started):
                discard(place)


def discard(place: Path) -> None:
    """Remove a scratch folder; another process may be doing the same."""
    with contextlib.suppress(FileNotFoundError):
        if place.is_symlink() or not place.is_dir():
            place.unlink()
        elif os.geteuid() == 0:
            shutil.rmtree(place)
        else:
            remove_tree(place)


def _pid_namespace() -> str:
    """Return what tells whose pids ours are: several containers may share a store."""
    return str(os.stat("/proc/self/ns/pid").st_ino)


def _runs(pid: int, started: str) -> bool:
    try:
        return start_time(pid) == started
    except (FileNotFoundError, ProcessLookupError):
        return False
