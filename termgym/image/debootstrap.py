"""Root filesystems of Debian and Ubuntu, made by debootstrap: as root, or as an ordinary user by fakechroot."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from termgym.errors import ImageError
from termgym.image.fresh import make_fresh
from termgym.image.hostbase import os_release
from termgym.image.making import make_directory, make_file
from termgym.image.roots import NAME, Root, keep_root
from termgym.image.state import digest
from termgym.image.store import Store
from termgym.sandbox.environment import EPOCH
from termgym.snapshot.copying import freeze_times

_SHOWN = 20
"""Lines of debootstrap's that an error shows."""
_SUITES = {
    "debian-11": "bullseye", "debian-12": "bookworm", "debian-13": "trixie", "ubuntu-20.04": "focal",
    "ubuntu-22.04": "jammy", "ubuntu-24.04": "noble", "ubuntu-25.10": "questing",
    "python-3.9": "bullseye", "python-3.11": "bookworm", "python-3.13": "trixie", "python-3.8": "focal",
    "python-3.10": "jammy", "python-3.12": "noble",
}  # fmt: skip
_UBUNTU = ("focal", "jammy", "noble", "plucky", "questing", "resolute")
_KEYRINGS = {"debian": "debian-archive-keyring", "ubuntu": "ubuntu-archive-keyring"}
_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
_PROXIES = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be made."""

    name: str
    suite: str
    distribution: str
    mirror: str
    include: tuple[str, ...]


def plan_root(name: str, suite: str = "", mirror: str = "", include: Sequence[str] = ()) -> Order:
    """Return what to make under a name: for known ones the suite is known.

    Raises:
        ImageError: the name says nothing, and no suite is given.
    """
    if not NAME.fullmatch(name):
        raise ImageError(f"{name!r} cannot name a root filesystem; allowed are a-z 0-9 . _ -")
    suite = suite or _SUITES.get(name, "")
    if not suite:
        raise ImageError(
            f"{name!r} does not say which suite; give one (--suite bookworm), or take {', '.join(_SUITES)}"
        )
    distribution = "ubuntu" if suite in _UBUNTU else "debian"
    packages = ("python3", "python3-venv", *include) if name.startswith("python-") else tuple(include)
    return Order(name, suite, distribution, mirror or _mirror(distribution), tuple(dict.fromkeys(packages)))


def make_root(store: Store, order: Order, report: Callable[[str], None]) -> Root:
    """Make a root filesystem and keep it under its name; one of that name is replaced.

    Raises:
        ImageError: debootstrap is not there, or failed; says what it said.
    """
    with store.scratch() as room:
        tree = room / "made" / "tree"
        make_directory(tree.parent)
        _run(_command(order, tree), report)
        _finish(tree, order, as_root=os.geteuid() == 0)
        packages = (tree / "var/lib/dpkg/status").read_text(errors="replace")
        about = {
            "suite": order.suite,
            "mirror": re.sub(r"://[^/@]*@", "://", order.mirror),
            "include": list(order.include),
            "system": _pretty_name(tree),
        }
        return keep_root(store, order.name, tree, about, digest([order.name, sorted(about.items()), packages]))


def _command(order: Order, tree: Path) -> list[str]:
    program = shutil.which("debootstrap", path=_PATH)
    if program is None:
        raise ImageError("debootstrap is not installed; install it (apt-get install debootstrap)")
    keyring = Path("/usr/share/keyrings", f"{_KEYRINGS[order.distribution]}.gpg")
    if not keyring.is_file():
        package = "ubuntu-keyring" if order.distribution == "ubuntu" else "debian-archive-keyring"
        raise ImageError(
            f"{str(keyring)!r} is not there, so nothing could be checked; install it (apt-get install {package})"
        )
    argv = [program, f"--keyring={keyring}", "--merged-usr"]
    if order.include:
        argv.append(f"--include={','.join(order.include)}")
    if order.distribution == "ubuntu":
        argv.append("--components=main,universe")
    if os.geteuid() == 0:
        apart = ["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child"]
        return [*apart, *argv, "--variant=minbase", order.suite, str(tree), order.mirror]
    missing = [name for name in ("fakechroot", "fakeroot") if shutil.which(name, path=_PATH) is None]
    if missing:
        raise ImageError(
            f"an ordinary user makes a root filesystem by {' and '.join(missing)}, not installed here; install them "
            "(apt-get install fakechroot fakeroot), or let root make one and name it in ~/.config/rolf/bases.toml"
        )
    return ["fakechroot", "fakeroot", *argv, "--variant=fakechroot", order.suite, str(tree), order.mirror]


def _run(argv: Sequence[str], report: Callable[[str], None]) -> None:
    env = {"PATH": _PATH, "LC_ALL": "C.UTF-8", "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive"}
    env |= {name: os.environ[name] for name in _PROXIES if name in os.environ}
    kept: deque[str] = deque(maxlen=_SHOWN)
    with subprocess.Popen(
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env, cwd="/"
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            text = line.decode("utf-8", "replace").rstrip()
            kept.append(text)
            report(text)
    if process.returncode:
        raise ImageError(
            f"debootstrap ended with exit status {process.returncode}; is the mirror reachable, the suite right "
            "(`ls /usr/share/debootstrap/scripts`)? It said at the end:\n" + "\n".join(kept)
        )


def _finish(tree: Path, order: Order, *, as_root: bool) -> None:
    """Leave it as docker's images of the distribution are: no lists, no devices, no logs, its full sources."""
    if not as_root:
        _mend_fakechroot(tree)
    for name in ("dev", "run", "tmp", "var/lib/apt/lists", "var/cache/apt", "var/log", "debootstrap", "proc"):
        shutil.rmtree(tree / name, ignore_errors=True)
    for name in (
        "dev",
        "proc",
        "sys",
        "run",
        "var/lib/apt/lists/partial",
        "var/cache/apt/archives/partial",
        "var/log/apt",
    ):
        make_directory(tree / name)
    for name in ("run/lock", "tmp"):
        make_directory(tree / name, 0o1777)
    make_file(tree / "etc/apt/sources.list", _sources(order).encode())
    make_fresh(tree)
    freeze_times(tree, EPOCH)


def _mend_fakechroot(tree: Path) -> None:
    """Undo what fakechroot leaves: links that name the host's directory, and two programs put aside."""
    for name in ("dev", "proc"):
        if (tree / name).is_symlink():
            (tree / name).unlink()
    for path in (tree / "usr/sbin/ldconfig", tree / "usr/bin/ldd"):
        kept = path.with_name(f"{path.name}.REAL")
        if kept.exists():
            kept.replace(path)
    made = str(tree)
    for directory, names, files in os.walk(tree):
        for name in (*names, *files):
            entry = os.path.join(directory, name)
            if os.path.islink(entry) and (target := os.readlink(entry)).startswith(made):
                os.unlink(entry)
                os.symlink(target.removeprefix(made) or "/", entry)


def _mirror(distribution: str) -> str:
    if distribution == "ubuntu":
        arm = os.uname().machine == "aarch64"
        return "http://ports.ubuntu.com/ubuntu-ports" if arm else "http://archive.ubuntu.com/ubuntu"
    return _own_mirror() if os_release().get("ID") == "debian" else "http://deb.debian.org/debian"


def _own_mirror() -> str:
    """Return the mirror that this Debian uses itself."""
    for path in (Path("/etc/apt/sources.list.d/debian.sources"), Path("/etc/apt/sources.list")):
        found = re.search(r"https?://\S+/debian/?(?=\s)", path.read_text()) if path.is_file() else None
        if found:
            return found[0].rstrip("/")
    return "http://deb.debian.org/debian"


def _sources(order: Order) -> str:
    mirror = re.sub(r"://[^/@]*@", "://", order.mirror)
    if order.distribution == "ubuntu":
        pockets = (order.suite, f"{order.suite}-updates", f"{order.suite}-security")
        return "".join(f"deb {mirror} {pocket} main universe\n" for pocket in pockets)
    lines = [f"deb {mirror} {order.suite} main\n", f"deb {mirror} {order.suite}-updates main\n"]
    security = mirror.removesuffix("/debian") + "/debian-security"
    return "".join([*lines, f"deb {security} {order.suite}-security main\n"])


def _pretty_name(tree: Path) -> str:
    found = re.search(r'^PRETTY_NAME="?([^"\n]*)', (tree / "usr/lib/os-release").read_text(), re.MULTILINE)
    return found[1] if found else ""
