"""The root that every sandbox sees, without the agent's own files: mounted once, then bound as a whole.

bubblewrap reads the whole table of mounts for each mount that it makes. Making these one by one took it half of a
start, and the more sandboxes there were the longer.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from termgym.errors import SandboxUnavailable
from termgym.sandbox import syscalls
from termgym.sandbox.terminals import mount_terminals
from termgym.snapshot.mounting import mount_options

_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_REMOUNT, _MS_BIND = 1, 2, 4, 32, 4096  # linux/mount.h
_CLOSED = _MS_RDONLY | _MS_NOSUID | _MS_NODEV
_KEPT = {b"noexec": 8, b"noatime": 1 << 10, b"nodiratime": 1 << 11, b"relatime": 1 << 21}
"""What a mount must not lose when its flags are set anew; in a user namespace the kernel would refuse."""
_MERGED = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_EMPTY = ("run", "root", "var/log", "var/lib", "var/cache", "opt", "mnt", "media", "home", "tmp", "srv", "proc")
# As bubblewrap's --dev has them.
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_DEVICE_LINKS = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
    "core": "/proc/kcore",
    "ptmx": "pts/ptmx",
}


def make_root(target: Path, etc: Path, *, real_root: bool) -> None:
    """Mount the root on a new directory ``target``: the host's programs, ``etc``, devices, places to mount the rest on.

    Raises:
        SandboxUnavailable: this machine does not let it; says what.
    """
    target.mkdir()
    try:
        _mount_empty("root", target)
        for name in _EMPTY:
            (target / name).mkdir(parents=True)
        (target / "var/tmp").symlink_to("../tmp")
        (target / "var/run").symlink_to("../run")
        bind_closed(Path("/usr"), target / "usr")
        bind_closed(etc, target / "etc")
        for name in _MERGED:
            path = Path("/", name)
            if path.is_symlink():
                (target / name).symlink_to(path.readlink())
            elif path.is_dir():
                bind_closed(path, target / name)
        _make_devices(target / "dev", real_root=real_root)
        _set_flags(target, _CLOSED)
    except OSError as error:
        raise SandboxUnavailable(
            f"this machine does not let the sandbox's root be put together ({error}); in a container allow mounts "
            "(docker: --security-opt seccomp=unconfined --security-opt apparmor=unconfined), or ask for "
            "backend='local-unsafe' to run without isolation"
        ) from error


@contextmanager
def furnished(room: Path, root: Path, live: Path, names: Sequence[str], terminals: Path | None) -> Iterator[None]:
    """Bind the root on ``room``, and in it what one sandbox has of its own; only as long as that one is being started.

    For every mount that stays is copied into each namespace that is made here.

    Args:
        room: where.
        root: what ``make_root`` made.
        live: the tree with the agent's files.
        names: its directories that are shown, relative to it and to the root.
        terminals: the sandbox's devpts instance.
    """
    syscalls.mount(str(root), room, None, _MS_BIND | syscalls.MS_REC)
    try:
        for name in names:
            syscalls.mount(str(live / name), room / name, None, _MS_BIND)
            syscalls.mount("none", room / name, None, _MS_BIND | _MS_REMOUNT | _MS_NOSUID | _MS_NODEV)
        if terminals is not None:
            syscalls.mount(str(terminals), room / "dev/pts", None, _MS_BIND)
        yield
    finally:
        syscalls.umount(room, syscalls.MNT_DETACH)


def _mount_empty(name: str, target: Path) -> None:
    syscalls.mount(name, target, "tmpfs", _MS_NOSUID | _MS_NODEV, "mode=755,size=1m")


def _make_devices(target: Path, *, real_root: bool) -> None:
    target.mkdir()
    _mount_empty("dev", target)
    for name in _DEVICES:
        (target / name).touch()
        syscalls.mount(f"/dev/{name}", target / name, None, _MS_BIND)
        # Read-only forbids to change what the device is, not to write to it: the agent of an image is root.
        _set_flags(target / name, _MS_NOSUID | _MS_RDONLY)
    for name, place in _DEVICE_LINKS.items():
        (target / name).symlink_to(place)
    for name in ("shm", "pts"):
        (target / name).mkdir()
    # For whoever has no terminals of its own: what builds an initial state.
    mount_terminals(target / "pts", real_root=real_root)
    _set_flags(target, _CLOSED)


def bind_closed(source: Path, target: Path) -> None:
    """Show a directory of the host and all that is mounted below it, read-only."""
    target.mkdir()
    syscalls.mount(str(source), target, None, _MS_BIND | syscalls.MS_REC)
    inside = os.fsencode(target) + b"/"
    with open("/proc/self/mountinfo", "rb") as table:
        points = [point for line in table if (point := line.split()[4]).startswith(inside)]
    for point in (os.fsencode(target), *(point.decode("unicode_escape").encode("latin-1") for point in points)):
        try:
            _set_flags(Path(os.fsdecode(point)), _CLOSED)
        except OSError as error:
            if error.errno != errno.EACCES:  # behind a directory that we cannot enter; the agent cannot either
                raise


def show_closed(source: Path, target: Path) -> None:
    """Show a file of the host read-only at a new place."""
    target.touch()
    syscalls.mount(str(source), target, None, _MS_BIND)
    _set_flags(target, _CLOSED)


def _set_flags(target: Path, flags: int) -> None:
    """Give a mount flags, and leave it those that it has."""
    options = mount_options(os.fsencode(target))
    kept = sum(flag for name, flag in _KEPT.items() if name in options)
    syscalls.mount("none", target, None, _MS_BIND | _MS_REMOUNT | flags | kept)
