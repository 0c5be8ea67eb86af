"""The host's own system directories as a base image: the choice that needs no set-up.

Two layers. The lower one is ``/usr`` itself, never copied and never written to. ``/`` would not do: overlayfs refuses
a layer that lies inside another one, and the store lies in ``/``. The upper one, made once and small, puts things in
their places: its ``usr`` leads to that directory, by overlayfs's redirects, and around it stand an /etc, a /var and a
/root that hold what a fresh installation has. So /home, /opt, /srv and the rest of the machine are not hidden; they
are not there.

/usr/local is fresh as well, for what a machine's owner put there is not the distribution's; except where the machine's
only Python lives there, as in the images called ``python``.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from functools import cache
from pathlib import Path

from termgym.errors import ImageError
from termgym.image.fresh import make_fresh
from termgym.image.hostcopy import copy_system
from termgym.image.hostetc import fill_etc
from termgym.image.making import make_directory, make_file
from termgym.image.marks import redirect, set_opaque, whiteout
from termgym.image.store import Store
from termgym.sandbox.environment import EPOCH
from termgym.snapshot.copying import freeze_times

HOST = "/usr"
"""The layer that stands for the machine: its content appears as ``/usr``."""
_FORMAT = b"3"
"""Changes when what is made here does."""
_MERGED = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_FRESH_LOCAL = ("bin", "etc", "games", "include", "lib", "sbin", "share", "src")
_EMPTY = ("boot", "dev", "home", "media", "mnt", "opt", "proc", "run", "srv", "sys", "var/backups", "var/cache",
          "var/lib", "var/local", "var/log", "var/mail", "var/opt", "var/spool", "var/lib/misc",
          "var/cache/apt/archives/partial", "var/lib/apt/lists/partial", "var/cache/debconf",
          "var/log/apt")  # fmt: skip
_STICKY = ("tmp", "var/tmp", "run/lock")
_STATE = ("dpkg", "pam", "python", "sgml-base", "ucf", "xml-core", "vim")
"""What packages know of each other, in /var/lib: without it the next one cannot be installed."""
_SECRET = ("passwords.dat",)


def host_layers(store: Store) -> tuple[Path, ...]:
    """Return the layers of the host's base, lowest first, made where they are not there yet.

    An ordinary user gets a copy instead, as one layer (``hostcopy``).

    Raises:
        ImageError: this machine keeps /bin and /lib apart from /usr.
    """
    key = host_key(store.prefix)
    target = store.layer(key)
    if not target.is_dir():
        _require_merged()
        with store.locked(key), store.scratch() as place:
            if not target.is_dir():
                _furnish(place / "tree", store)
                store.keep(place / "tree", target)
    return (Path(HOST), target) if store.privileged else (target,)


def host_key(prefix: str) -> str:
    """Return what names the host's system: it changes with the packages that are installed."""
    known = hashlib.sha256(b"\0".join((_FORMAT, prefix.encode(), _content("/etc/os-release"))))
    status = "/var/lib/dpkg/status"
    known.update(_content(status) if os.path.exists(status) else "\n".join(sorted(os.listdir("/usr/bin"))).encode())
    return known.hexdigest()[:32]


def system_name() -> str:
    """Return what this machine runs, such as ``Debian GNU/Linux 12 (bookworm)``."""
    return os_release().get("PRETTY_NAME", "Linux")


@cache
def os_release() -> dict[str, str]:
    """Return the fields of /etc/os-release."""
    lines = _content("/etc/os-release").decode("utf-8", "replace").splitlines()
    pairs = (line.partition("=") for line in lines if "=" in line and not line.startswith("#"))
    return {name: value.strip().strip("\"'") for name, _, value in pairs}


def _content(path: str) -> bytes:
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return b""
    return _read(path, (status.st_mtime_ns, status.st_size, status.st_ino))


@cache
def _read(path: str, _version: tuple[int, int, int]) -> bytes:
    return hashlib.sha256(data).digest() if len(data := Path(path).read_bytes()) > 1 << 16 else data


def _require_merged() -> None:
    apart = [name for name in _MERGED if os.path.isdir(f"/{name}") and not os.path.islink(f"/{name}")]
    if apart:
        raise ImageError(
            f"this machine keeps /{apart[0]} apart from /usr, so its system cannot be a base; make one with "
            "`rolf tasks rootfs build debian-12`"
        )


def _furnish(tree: Path, store: Store) -> None:
    """Put the upper layer together."""
    for name in _EMPTY:
        make_directory(tree / name)
    for name in _STICKY:
        make_directory(tree / name, 0o1777)
    (tree / "var/run").symlink_to("/run")
    (tree / "var/lock").symlink_to("/run/lock")
    for name in _MERGED:
        if os.path.islink(f"/{name}"):
            (tree / name).symlink_to(os.readlink(f"/{name}").removeprefix("/"))
    _furnish_root(tree / "root")
    fill_etc(tree / "etc")
    _copy_state(tree / "var")
    if store.privileged:
        _furnish_usr(tree, store.prefix)
    else:
        copy_system(tree)
        _furnish_local(tree / "usr/local")
    make_fresh(tree)
    freeze_times(tree, EPOCH)


def _furnish_root(home: Path) -> None:
    make_directory(home, 0o700)
    for name in (".bashrc", ".profile"):
        source = Path("/usr/share/base-files", f"dot{name}")
        if source.is_file():
            make_file(home / name, source.read_bytes())


def _furnish_usr(tree: Path, prefix: str) -> None:
    """Lead from ``usr`` to what the lowest layer has at its root, and hide it there."""
    usr = tree / "usr"
    make_directory(usr)
    for entry in sorted(os.scandir(HOST), key=lambda entry: entry.name):
        top, place = tree / entry.name, usr / entry.name
        if not os.path.lexists(top):
            whiteout(top)
        elif top.is_dir() and not top.is_symlink():
            set_opaque(top, prefix)  # /usr/etc is not /etc
        if not entry.is_dir(follow_symlinks=False):
            shutil.copy2(entry.path, place, follow_symlinks=False)  # redirects are for directories
            continue
        make_directory(place, entry.stat(follow_symlinks=False).st_mode & 0o7777)
        if entry.name == "local" and not _python_is_local():
            _furnish_local(place)
            set_opaque(place, prefix)
        else:
            redirect(place, f"/{entry.name}", prefix)


def _furnish_local(local: Path) -> None:
    for name in _FRESH_LOCAL:
        make_directory(local / name)
    (local / "man").symlink_to("share/man")


def _python_is_local() -> bool:
    return not os.path.exists("/usr/bin/python3") and os.path.exists("/usr/local/bin/python3")


def _copy_state(var: Path) -> None:
    for name in _STATE:
        source = Path("/var/lib", name)
        if source.is_dir():
            shutil.copytree(source, var / "lib" / name, symlinks=True, ignore=_unreadable, dirs_exist_ok=True)
    for source in (Path("/var/lib/apt/extended_states"), *Path("/var/cache/debconf").glob("*.dat")):
        if source.is_file() and source.name not in _SECRET and os.access(source, os.R_OK):
            make_file(var / source.relative_to("/var"), source.read_bytes())
    (var / "lib/dpkg/lock").unlink(missing_ok=True)
    (var / "lib/dpkg/lock-frontend").unlink(missing_ok=True)
    for name in ("mail", "local"):
        (var / name).chmod(0o2775)


def _unreadable(directory: str, names: list[str]) -> list[str]:
    return [name for name in names if not os.access(os.path.join(directory, name), os.R_OK, follow_symlinks=False)]
