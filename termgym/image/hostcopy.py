"""The host's system for an ordinary user: a copy of its most useful packages.

In a user namespace overlayfs follows no redirects, and what belongs to the machine's root belongs to nobody there, so
that even root could not change it. So the packages that every system has, the tools that tasks ask for, and what both
depend on are copied once (some hundred MB), as far as they are installed; and only they count as installed.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from termgym.errors import ImageError
from termgym.image.making import make_directory, make_file

_DATABASE = Path("/var/lib/dpkg")
_TOOLS = (
    "acl", "apt", "attr", "bc", "bsdextrautils", "bzip2", "ca-certificates", "curl", "dnsutils", "expect", "file",
    "g++", "gawk", "gcc", "git", "gnupg", "iproute2", "iputils-ping", "jq", "less", "lsof", "make", "nano", "net-tools",
    "netcat-openbsd", "nodejs", "npm", "openssh-client", "openssl", "patch", "perl", "procps", "psmisc", "python3",
    "python3-pip", "python3-venv", "rsync", "sqlite3", "strace", "tmux", "tree", "unzip", "vim", "vim-tiny", "wget",
    "xxd", "xz-utils", "zip",
)  # fmt: skip
_NOT_COPIED = re.compile(r"/usr/share/(?:doc|man|locale|info|lintian)/")
_ALTERNATIVES = "/etc/alternatives/"


def copy_system(tree: Path) -> None:
    """Copy packages of this machine into ``tree/usr``, and say in ``tree/var/lib/dpkg`` which.

    Raises:
        ImageError: this machine's packages are not dpkg's.
    """
    if not (_DATABASE / "status").is_file():
        raise ImageError(
            "as an ordinary user only a Debian or Ubuntu system can be a base; make one with "
            "`rolf tasks rootfs build debian-12`, or name a directory in ~/.config/rolf/bases.toml"
        )
    known = _packages()
    wanted = _closure(known)
    for name in sorted(wanted):
        for path in _files(name):
            _copy(path, tree)
    for directory in ("bin", "sbin", "lib"):
        _copy_alternatives(Path("/usr", directory), tree)
    _write_database(tree / "var/lib/dpkg", known, wanted)


def _packages() -> dict[str, dict[str, str]]:
    """Return the installed packages with their fields; ``text`` is all of them."""
    found = {}
    for text in (_DATABASE / "status").read_text(errors="replace").split("\n\n"):
        fields = dict(re.findall(r"^([A-Za-z-]+): (.*)$", text, re.MULTILINE))
        if fields.get("Status", "").endswith(" installed"):
            found[fields["Package"]] = {**fields, "text": text}
    return found


def _closure(known: Mapping[str, Mapping[str, str]]) -> set[str]:
    """Return the packages to copy with all that they depend on."""
    provided: dict[str, str] = {}
    for name, fields in known.items():
        for other in re.findall(r"[a-z0-9.+-]+", fields.get("Provides", "")):
            provided.setdefault(other, name)
    pending = [name for name, fields in known.items() if _is_basic(fields)] + [name for name in _TOOLS if name in known]
    wanted: set[str] = set()
    while pending:
        name = pending.pop()
        if name not in known or name in wanted:
            continue
        wanted.add(name)
        for field in ("Depends", "Pre-Depends"):
            needed = re.findall(r"(?:^|[,|])\s*([a-z0-9.+-]+)", known[name].get(field, ""))
            pending += [each if each in known else provided.get(each, "") for each in needed]
    return wanted


def _is_basic(fields: Mapping[str, str]) -> bool:
    return fields.get("Essential") == "yes" or fields.get("Priority") == "required"


def _files(name: str) -> Iterator[str]:
    """Yield what a package owns in /usr; on older ones the paths say /bin, which is a link to /usr/bin."""
    for path in _DATABASE.glob("info/" + name + "*.list"):
        if path.name.partition(":")[0].removesuffix(".list") != name:
            continue
        for line in path.read_text(errors="surrogateescape").splitlines():
            real = os.path.join(os.path.realpath(os.path.dirname(line)), os.path.basename(line))
            if real.startswith("/usr/") and not real.startswith("/usr/local") and not _NOT_COPIED.match(real):
                yield real


def _copy(source: str, tree: Path) -> None:
    """Copy one entry; what this user may not read is left out."""
    target = tree / source[1:]
    try:
        status = os.lstat(source)
    except (FileNotFoundError, PermissionError):  # removed by its owner, or nothing for this user's eyes
        return
    if os.path.lexists(target):
        return
    if stat.S_ISDIR(status.st_mode):
        make_directory(target, stat.S_IMODE(status.st_mode) | stat.S_IRWXU)
        return
    make_directory(target.parent)
    if stat.S_ISLNK(status.st_mode):
        target.symlink_to(os.readlink(source))
    elif stat.S_ISREG(status.st_mode) and os.access(source, os.R_OK):
        shutil.copyfile(source, target)
        target.chmod(stat.S_IMODE(status.st_mode) & 0o777)


def _copy_alternatives(directory: Path, tree: Path) -> None:
    for entry in os.scandir(directory):
        if entry.is_symlink() and os.readlink(entry.path).startswith(_ALTERNATIVES) and os.path.exists(entry.path):
            _copy(entry.path, tree)


def _write_database(target: Path, known: Mapping[str, Mapping[str, str]], wanted: set[str]) -> None:
    """Let dpkg know those packages alone."""
    make_file(target / "status", "".join(f"{known[name]['text']}\n\n" for name in sorted(wanted)).encode())
    for path in (target / "info").iterdir():
        if path.name.partition(":")[0].rpartition(".")[0] not in wanted and path.name.partition(":")[0] not in wanted:
            path.unlink()
