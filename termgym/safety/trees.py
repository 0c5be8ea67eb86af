"""Which paths are a whole system, or a whole home."""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Iterable

from termgym.safety.calls import Call

_TOP = (
    "bin",
    "boot",
    "dev",
    "etc",
    "home",
    "lib",
    "lib64",
    "opt",
    "proc",
    "root",
    "run",
    "sbin",
    "srv",
    "sys",
    "usr",
    "var",
)
"""Top-level directories of the Filesystem Hierarchy Standard 3.0 that hold more than scratch."""
PROTECTED = frozenset({"/", "~", "/home/agent", *(f"/{name}" for name in _TOP)})
SYSTEM = PROTECTED - {"~", "/home/agent"}


def _is_tree(path: str, directory: str | None, trees: Iterable[str]) -> bool:
    """Return whether a path is one of some trees, or everything in one: ``/``, ``/*``, ``//etc/.``, ``~/``."""
    if not path.startswith(("/", "~")):
        if directory is None or not directory.startswith(("/", "~")):
            return False
        path = f"{directory}/{path}"
    path = re.sub(r"(/(\*|\.\*|\.\[!\.\]\*|\{,\.\}\*))+$", "", path) or "/"
    path = re.sub(r"^/+", "/", posixpath.normpath(path))
    return path in trees or (("*" in path or "?" in path) and bool(fnmatch.filter(trees, path)))


def targets_tree(call: Call, words: Iterable[str], trees: Iterable[str]) -> bool:
    """Return whether any of a call's words, relative to where it runs, is one of some trees."""
    return any(_is_tree(each, call.directory, trees) for word in words for each in _braces(word))


def _braces(word: str) -> list[str]:
    """Return what bash makes of the first pair of braces: ``/{bin,etc}`` is ``/bin`` and ``/etc``."""
    found = re.fullmatch(r"([^{}]*)\{([^{}]*,[^{}]*)\}([^{}]*)", word)
    return [f"{found[1]}{each}{found[3]}" for each in found[2].split(",")] if found else [word]
