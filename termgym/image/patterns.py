"""Patterns in ``COPY``, as Go's filepath.Match has them: one component each, and a backslash takes a sign literally."""

from __future__ import annotations

import re
from functools import lru_cache

_SIGNS = re.compile(r"[*?\[\\]")
_PIECE = re.compile(
    r"\\(?P<literal>.)|(?P<many>\*)|(?P<one>\?)|\[(?P<set>\^?(?:\\.|[^\]\\])+)\]|(?P<plain>.)", re.DOTALL
)


def is_pattern(part: str) -> bool:
    """Return whether a component means other names than itself."""
    return _SIGNS.search(part) is not None


@lru_cache(maxsize=256)
def component_pattern(part: str) -> re.Pattern[str]:
    """Return the expression for one component of a pattern.

    Example:
        >>> [name for name in ("a.py", "b.py", "c.txt") if component_pattern("[ab].py").fullmatch(name)]
        ['a.py', 'b.py']
    """
    return re.compile("".join(_translated(piece) for piece in _PIECE.finditer(part)), re.DOTALL)


def _translated(piece: re.Match[str]) -> str:
    if piece["many"]:
        return "[^/]*"
    if piece["one"]:
        return "[^/]"
    if piece["set"]:
        inside = piece["set"].removeprefix("^")
        return f"[{'^' if piece['set'] != inside else ''}{inside.replace('[', chr(92) + '[')}]"
    return re.escape(piece["literal"] or piece["plain"])
