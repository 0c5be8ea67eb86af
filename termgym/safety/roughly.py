"""Reading roughly: a text that the grammar does not take, by its separators alone. Quotes around them mean nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_LONGEST = 2048
"""How much of one statement is looked at [code points]."""
_KEYWORDS = frozenset({"if", "then", "else", "elif", "do", "while", "until", "!", "time", "done", "fi", "{"})


class Statement(NamedTuple):
    """What stands between two separators."""

    before: str
    """The separators between this one and the one before."""
    words: tuple[str, ...] = ()
    """Empty where nothing would run, or where it is known by now."""
    writes: tuple[str, ...] = ()
    upstream: tuple[tuple[str, ...], ...] = ()


def statements(text: str) -> Iterator[Statement]:
    """Yield the statements of a text; one pass. A long text repeats itself: what is known costs nothing."""
    upstream: tuple[tuple[str, ...], ...] = ()
    seen: set[tuple[object, ...]] = set()
    before = ""
    for piece in re.finditer(r"([^;&|\n(){}`]*)([;&|\n(){}`]+|\Z)", text):
        separators = piece[2]
        key = (piece[1], upstream)
        if key in seen and separators != "|":
            yield Statement(before)
            upstream = ()
        else:
            seen.add(key)
            words = _words(piece[1][:_LONGEST])
            if words and not words[0].startswith("#"):
                writes = tuple(re.findall(r">{1,2}\s*([^\s<>&]+)", piece[1][:_LONGEST]))
                yield Statement(before, words, writes, upstream)
            else:
                yield Statement(before)
            upstream = (*upstream, words)[-8:] if separators == "|" else ()
        before = separators


def _words(text: str) -> tuple[str, ...]:
    """Return the words of a statement but for the keywords and assignments that it begins with."""
    words = [word.replace("$HOME", "~").strip("\"'\\") for word in text.split()]
    while words and (words[0] in _KEYWORDS or re.fullmatch(r"\w+=.*", words[0])):
        words.pop(0)
    return tuple(words)
