"""Globs: which paths a task lets an agent change."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from termgym.snapshot.change import Change


def outside(changes: Iterable[Change], allowed: tuple[str, ...]) -> tuple[str, ...]:
    """Return the changed paths that no glob allows, each once, sorted.

    ``**`` stands for any number of directories, ``*`` for anything within a name, ``?`` for one character. ``/a/**``
    allows ``/a`` itself too: to put a file into a directory is to change it.

    Example:
        >>> from termgym.snapshot.change import ChangeKind
        >>> paths = ("/srv/app/conf.ini", "/srv/app", "/srv/data.db", "/tmp/x")
        >>> outside([Change(path, ChangeKind.CONTENT) for path in paths], ("/srv/app/**", "/tmp/?"))
        ('/srv/data.db',)
    """
    matches = _expression(allowed).fullmatch
    return tuple(sorted({change.path for change in changes if not matches(change.path)}))


@lru_cache(maxsize=256)
def _expression(globs: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(_translated, globs)) or r"(?!)", re.DOTALL)


def _translated(glob: str) -> str:
    pieces = {"/**": "(?:/.*)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(/\*\*(?=/|$)|\*\*|\*|\?)", glob)
    return "".join(pieces.get(part, re.escape(part)) for part in parts)
