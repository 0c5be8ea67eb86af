"""Text of strangers, made harmless to look at: nothing hides, nothing moves, nothing is longer than it may be."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from rolf.screen import as_seen

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Controls, and what turns the direction of text, joins its ends or takes no place: https://trojansource.codes"""
_SCHEMES = frozenset({"http", "https"})


def visible(text: str) -> str:
    """Return text whose every character can be seen: ``\\u202e`` stands there as ``⟨U+202E⟩``."""
    return _HIDDEN.sub(lambda found: _named(ord(found[0])), text)


def _named(code: int) -> str:
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    return "\ufffd" if 0xD800 <= code < 0xE000 else f"⟨U+{code:04X}⟩"


def shortened(text: str, most: int) -> str:
    """Return text of no more than so many characters, a note in the middle about what was left out not counted."""
    if len(text) <= most:
        return text
    head, tail = most - most // 4, most // 4
    left = f"\n[… {len(text) - head - tail:,} characters left out here …]\n"
    return text[:head] + left + (text[-tail:] if tail else "")


def printed(output: str, most: int) -> str:
    """Return an output as its words would stand on a terminal, without colours."""
    return visible(as_seen(shortened(output, most)).plain)


def title(text: object, most: int = 60) -> str:
    """Return a name that fits into a line."""
    line = visible(" ".join(str(text).split()))
    return line if len(line) <= most else f"{line[: most - 1]}…"


def web_address(text: object) -> str | None:
    """Return an address that may be followed: http or https, with a host, and no more than that meets the eye."""
    if not isinstance(text, str) or len(text) > 2_000 or visible(text) != text or any(each.isspace() for each in text):
        return None
    try:
        parts = urlsplit(text)
    except ValueError:  # brackets that hold no address
        return None
    plain = parts.scheme in _SCHEMES and parts.hostname and "@" not in parts.netloc
    return text if plain else None
