"""Places: what of an instruction's words can be looked at: the paths in it and the commands that it quotes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import NamedTuple

_PATH = re.compile(r"(?<![\w`/.])(?:~|\.{0,2})/[\w.@+/-]*[\w/]")
_QUOTED = re.compile(r"`([^`\n]{1,200})`")
_PROGRAM = re.compile(r"(?<![\w/.~-])(?:\./|bin/)[\w./-]*\w")


class Words(NamedTuple):
    """What an instruction names."""

    paths: tuple[str, ...]
    commands: tuple[str, ...]
    """As it quotes them, then the programs that it names."""


def words(instruction: str) -> Words:
    """Return what an instruction names, in the order in which it does."""
    paths = tuple(dict.fromkeys(found.rstrip("/.") or "/" for found in _PATH.findall(instruction)))
    said = dict.fromkeys((*_QUOTED.findall(instruction), *_PROGRAM.findall(instruction)))
    return Words(paths, tuple(said))


def shell_path(path: str) -> str:
    """Return a path as bash reads it, a leading ``~`` left to be expanded."""
    if path == "~" or path.startswith("~/"):
        return "~" + (shlex.quote(path[1:]) if path[1:] else "")
    return shlex.quote(path)


def enter(paths: Sequence[str]) -> str:
    """Return the command that enters the nearest directory to the first path that says where it is, if any does."""
    whole = [path for path in paths if path.startswith(("/", "~"))]
    if not whole:
        return "true"
    return (
        f"place={shell_path(whole[0])}; "
        'while [ ! -d "$place" ] && [ "${place%/*}" != "$place" ]; do place=${place%/*}; done; cd "${place:-/}"'
    )
