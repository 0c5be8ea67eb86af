"""The /etc of the host's base: what its packages brought, without what its owner wrote.

A file is taken when a package owns it, or when it is one of the files that packages generate, and only when every user
of the machine may read it. So a secret that nobody thought of stays out: keys, shadow, credentials, host names.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from termgym.image.making import make_directory, make_file

_LISTS = Path("/var/lib/dpkg/info")
_GENERATED = (
    "alternatives", "ca-certificates.conf", "debian_version", "fonts", "java-17-openjdk", "java-21-openjdk",
    "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "lsb-release", "magic", "mime.types", "nsswitch.conf",
    "os-release", "pam.d", "perl", "profile", "protocols", "python3", "rpc", "services", "shells", "skel", "ssl/certs",
    "ssl/openssl.cnf", "terminfo", "timezone", "vim", "bash.bashrc", "login.defs", "adduser.conf", "apt/trusted.gpg.d",
    "apt/keyrings", "inputrc", "networks", "xattr.conf", "sgml", "xml", "pki/ca-trust", "pki/tls", "crypto-policies",
)  # fmt: skip
"""What belongs to no package and yet to the system."""
_EMPTY = ("fstab", "subuid", "subgid", "environment")
_LEFT_OUT = re.compile(
    r"(^|/)(ssh_host_|shadow|gshadow|sudoers\.d/)|^(cron|default/grub|kernel|grub|apt/auth|apt/apt\.conf)"
)
_LAST_SYSTEM_ID = 999  # adduser(8): people come from 1000 on
_NOBODY = 65534
_CREDENTIALS = re.compile(r"(://)[^/@\s]+@")
_ARCHIVE = re.compile(r"https?://\S*(debian|ubuntu)")


def fill_etc(target: Path) -> None:
    """Fill a new directory with what a fresh installation of this system has in /etc."""
    make_directory(target)
    for name in sorted({*_owned(), *_GENERATED}):
        if not _LEFT_OUT.search(name):
            _copy(Path("/etc", name), target / name)
    for name in _EMPTY:
        make_file(target / name, b"")
    if not os.path.lexists(target / "mtab"):
        (target / "mtab").symlink_to("/proc/mounts")
    _write_people(target)
    _write_sources(target / "apt")


def _owned() -> set[str]:
    """Return what packages own in /etc, relative to it."""
    found: set[str] = set()
    for path in _LISTS.glob("*.list"):
        found.update(os.fsdecode(line[5:]) for line in path.read_bytes().splitlines() if line.startswith(b"/etc/"))
    return found - {""}


def _copy(source: Path, target: Path) -> None:
    """Copy an entry, a directory with all that is in it, as far as every user may read it."""
    try:
        status = source.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return
    if not _is_open(source.parent):
        return
    make_directory(target.parent)
    if stat.S_ISLNK(status.st_mode):
        target.unlink(missing_ok=True)
        target.symlink_to(os.readlink(source))
    elif stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_IROTH:
        make_directory(target)
        if str(source.relative_to("/etc")) in _GENERATED:
            for name in sorted(os.listdir(source)):
                _copy(source / name, target / name)
            return
        target.chmod(stat.S_IMODE(status.st_mode))
    elif stat.S_ISREG(status.st_mode) and status.st_mode & stat.S_IROTH:
        shutil.copyfile(source, target)
        target.chmod(stat.S_IMODE(status.st_mode))


def _is_open(directory: Path) -> bool:
    return all(path.stat().st_mode & stat.S_IXOTH for path in (directory, *directory.parents))


def _write_people(target: Path) -> None:
    """Write the users and groups of the system, without the people."""
    users = [line for line in _lines("passwd") if _is_system(line.split(":")[2]) and not line.startswith("root:")]
    users.insert(0, "root:x:0:0:root:/root:/bin/bash")
    groups = [":".join([*line.split(":")[:3], ""]) for line in _lines("group") if _is_system(line.split(":")[2])]
    for name, rows in (("passwd", users), ("group", groups)):
        make_file(target / name, "".join(f"{row}\n" for row in rows).encode())
    for name, rows, rest in (("shadow", users, ":*:20000:0:99999:7:::"), ("gshadow", groups, ":*::")):
        make_file(target / name, "".join(f"{row.split(':')[0]}{rest}\n" for row in rows).encode(), 0o640)


def _lines(name: str) -> Iterator[str]:
    for line in Path("/etc", name).read_text().splitlines():
        if line.count(":") >= 3:
            yield line


def _is_system(number: str) -> bool:
    return number.isdigit() and (int(number) <= _LAST_SYSTEM_ID or int(number) == _NOBODY)


def _write_sources(apt: Path) -> None:
    """Write apt's sources: those of the distribution itself, without anybody's credentials."""
    if not Path("/etc/apt").is_dir():
        return
    directory = apt / "sources.list.d"
    make_directory(directory)
    for left in directory.iterdir():
        left.unlink()
    for source in (Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt/sources.list.d").glob("*"))):
        if not source.is_file() or not source.stat().st_mode & stat.S_IROTH:
            continue
        own = "\n\n".join(part for part in _entries(source) if _ARCHIVE.search(part))
        if own:
            make_file(apt / source.relative_to("/etc/apt"), f"{own}\n".encode())


def _entries(source: Path) -> list[str]:
    """Return the entries of a file of sources: a paragraph each in the newer format, a line in the older."""
    text = _CREDENTIALS.sub(r"\1", source.read_text())
    return [entry.strip() for entry in text.split("\n\n" if source.suffix == ".sources" else "\n")]
