"""TOML with line numbers: ``tomllib`` reads the values, a scan of the lines says where each stands."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from termgym.folders.source import Source

Name = tuple[str | int, ...]

_HEADER = re.compile(r"\s*(\[\[?)([^\[\]#]+?)\]\]?\s*(?:#.*)?$")
_ONE = r"(?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*')"
_KEY = re.compile(rf"\s*({_ONE}(?:\s*\.\s*{_ONE})*)\s*=(.*)$")
_PART = re.compile(_ONE)
_LONG = ('"""', "'''")


def read_toml(source: Source) -> dict[str, Any]:
    """Return what a TOML file says.

    Raises:
        FolderError: it is no TOML; says where.
    """
    try:
        return tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"\(at line (\d+), column \d+\)", str(error))
        line = int(found[1]) if found else source.text.count("\n") + 1
        said = str(error).partition(" (at ")[0]
        raise source.fault(f"is no TOML: {said[:1].lower()}{said[1:]}; see https://toml.io", line) from None


def lines(text: str) -> Mapping[Name, int]:
    """Return the line that each table and each key of a TOML text stands in, the first being 1.

    Keys within inline tables have no line of their own; `line_of` gives that of what holds them.
    """
    found: dict[Name, int] = {}
    counts: dict[Name, int] = {}
    table: Name = ()
    closing = ""
    for number, line in enumerate(text.split("\n"), start=1):
        if closing:  # within a multi-line string
            closing = "" if closing in line else closing
            continue
        if header := _HEADER.match(line):
            table = _table(_parts(header[2]), counts, many=header[1] == "[[")
            for length in range(1, len(table) + 1):
                found.setdefault(table[:length], number)
        elif key := _KEY.match(line):
            found.setdefault((*table, *_parts(key[1])), number)
            opened = next((mark for mark in _LONG if key[2].lstrip().startswith(mark)), "")
            closing = opened if opened and key[2].count(opened) == 1 else ""
    return found


def line_of(known: Mapping[Name, int], name: Sequence[str | int]) -> int | None:
    """Return the line of a name, or of the nearest that holds it."""
    for length in range(len(name), 0, -1):
        if tuple(name[:length]) in known:
            return known[tuple(name[:length])]
    return None


def _parts(text: str) -> Name:
    return tuple(part.strip("\"'") for part in _PART.findall(text))


def _table(parts: Name, counts: dict[Name, int], *, many: bool) -> Name:
    """Return a table's name with the index of each array of tables on the way to it."""
    name: Name = ()
    for position, part in enumerate(parts):
        name = (*name, part)
        if many and position == len(parts) - 1:
            counts[name] = counts.get(name, -1) + 1
        if name in counts:
            name = (*name, counts[name])
    return name
