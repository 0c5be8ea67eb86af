"""Fetching: what a command brings in from the network, and which of it is not pinned."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import urlsplit

from termgym.lint.commands import Command

_APT = frozenset({"apt", "apt-get", "aptitude"})
_OTHERS = {
    "apk": ("add",), "brew": ("install",), "bun": ("add", "install"), "cargo": ("install",),
    "conda": ("create", "install"), "dnf": ("install",), "gem": ("install",), "go": ("get", "install"),
    "mamba": ("create", "install"), "npm": ("ci", "i", "install"), "npx": (), "pnpm": ("add", "install"),
    "poetry": ("add", "install"), "yarn": ("add", "install"), "yum": ("install",),
}  # fmt: skip
"""Other installers, and the words that make them fetch; none: they always do."""
_TAKES_VALUE = frozenset({
    "--cache-dir", "--config-settings", "--constraint", "--default-index", "--extra-index-url", "--find-links",
    "--index", "--index-strategy", "--index-url", "--log", "--no-binary", "--only-binary", "--platform",
    "--prefix", "--python", "--python-version", "--requirement", "--retries", "--root", "--src", "--target",
    "--timeout", "--trusted-host", "-C", "-c", "-f", "-i", "-p", "-r", "-t",
})  # fmt: skip
"""Options of pip and uv that take the next word (`harbor/lint/task.py` has most of them)."""


class Fetch(NamedTuple):
    """What one command fetches."""

    kind: str
    """``apt``, ``python``, ``packages`` (another installer) or ``download``."""
    what: tuple[str, ...]
    """Packages or addresses, as written."""

    @property
    def unpinned(self) -> tuple[str, ...]:
        """The packages of apt and pip that say no version."""
        if self.kind == "apt":
            return tuple(each for each in self.what if "=" not in each and "$" not in each)
        return tuple(each for each in self.what if self.kind == "python" and _is_unpinned(each))


def fetched(command: Command) -> Fetch | None:
    """Return what a command fetches, or None."""
    name, args = command.name, command.args
    if name in _APT and "install" in args:
        packages = (each for each in args if not each.startswith("-") and each != "install")
        return Fetch("apt", tuple(each for each in packages if not each.startswith((".", "/"))))
    if name in ("curl", "wget"):
        return _download(args)
    if name == "git" and args[:1] == ("clone",):
        return _download(args)
    if name in _OTHERS and (not _OTHERS[name] or any(each in _OTHERS[name] for each in args[:2])):
        return Fetch("packages", (command.text,))
    python = _python(name, args)
    return Fetch("python", python) if python else None


def _download(args: tuple[str, ...]) -> Fetch | None:
    """Return the addresses among words that lie outside this machine."""
    outside = tuple(each for each in (arg.removeprefix("--url=") for arg in args) if _is_outside(each))
    return Fetch("download", outside) if outside else None


def _is_outside(word: str) -> bool:
    if re.match(r"git@[^:/]+:", word):
        return True
    try:
        host = urlsplit(word).hostname
    except ValueError:
        return False
    return bool(host) and "." in str(host) and not re.match(r"127\.|0\.0\.0\.0$|.*\.(localhost|local|test)$", str(host))


def _python(name: str, args: tuple[str, ...]) -> tuple[str, ...]:
    """Return the Python packages that a command fetches."""
    if name.startswith("python") and args[:2] == ("-m", "pip"):
        name, args = "pip", args[2:]
    if name == "uv" and args[:1] == ("pip",):
        name, args = "pip", args[1:]
    if "--no-index" in args or "--offline" in args:
        return ()
    if re.fullmatch(r"pip[\d.]*", name) and "install" in args[:3]:
        return _packages(args[args.index("install") + 1 :])
    if name == "uv" and args[:1] == ("add",):
        return _packages(args[1:])
    if name == "uv" and args[:2] == ("tool", "install"):
        return _packages(args[2:])
    if name == "uvx" or (name == "uv" and args[:2] == ("tool", "run")):
        return _tool(args if name == "uvx" else args[2:])
    if name == "uv" and args[:1] == ("run",):
        return _with(args)
    return ()


def _packages(args: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words that are packages: no option, no value of one, nothing that lies here."""
    found, skip = [], False
    for each in args:
        if skip or each.startswith("-"):
            skip = not skip and each in _TAKES_VALUE
            continue
        if not each.startswith((".", "/", "~", "file:", "$")) and not each.endswith((".whl", ".tar.gz", ".txt")):
            found.append(each)
    return tuple(found)


def _tool(args: tuple[str, ...]) -> tuple[str, ...]:
    """Return what uvx fetches: what its options name, and else the program's own package."""
    found = list(_with(args))
    words = iter(args)
    for each in words:
        if each in ("--with", "-w", "--from", "--python", "-p", "--index", "--default-index"):
            next(words, None)
        elif not each.startswith("-"):
            named = {re.split(r"[=<>~!\[@ ]", package)[0] for package in found}
            if each not in named and "--from" not in args:
                found.append(each)
            break
    return tuple(found)


def _with(args: tuple[str, ...]) -> tuple[str, ...]:
    """Return the packages that ``--with`` and ``--from`` name."""
    return tuple(value for option, value in pairwise(args) if option in ("--with", "-w", "--from"))


def _is_unpinned(package: str) -> bool:
    if "://" in package:
        return not re.search(r"@[0-9a-f]{40}\b|#sha256=", package)
    return not re.search(r"(==|===|@)\s*[\w.]", package) or "*" in package
