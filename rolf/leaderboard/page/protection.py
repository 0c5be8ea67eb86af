"""Protection: which scripts may run in the page, and how data lies in it without becoming one."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from markupsafe import Markup

from rolf.leaderboard.page.text import visible

PLOT_STYLE = """\
:where(.figure) {
  --plot-background: white;
  display: block;
  height: auto;
  height: intrinsic;
  max-width: 100%;
}
:where(.figure text),
:where(.figure tspan) {
  white-space: pre;
}"""
"""What Observable Plot puts into each chart of the class ``figure``; the only style that is not the page's own."""
DECIMALS = 6
"""What figures are rounded to in the page; nobody sees more."""


def content_security_policy(scripts: Iterable[str], styles: Iterable[str]) -> str:
    """Return what a browser is told: nothing is fetched, and nothing runs but these very scripts.

    The terminal player's terminal is WebAssembly, which has a permission of its own; that of ``eval`` is not given.
    """
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src 'wasm-unsafe-eval' {_hashes(scripts)}",
            f"style-src {_hashes(styles)}",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _hashes(texts: Iterable[str]) -> str:
    digests = (hashlib.sha256(text.encode()).digest() for text in texts)
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


def inline(code: str) -> Markup:
    """Return a script or a style as it may stand in its element, where nothing is escaped.

    Raises:
        ValueError: it would end its element, or begin a comment that hides the end.
    """
    lower = code.lower()
    for end in ("</script", "</style", "<!--", "<script"):
        if end in lower:
            raise ValueError(f"code that holds {end!r} cannot stand in a page; write it otherwise")
    return Markup(code)


def embedded(value: Any) -> Markup:
    """Return plain data as JSON that may stand in a script element: no ``<``, ``>`` or ``&``, all of it ASCII."""
    text = json.dumps(seemly(value), separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


class Raw(str):
    """Text that is meant for the terminal player and keeps its control sequences."""

    __slots__ = ()


def seemly(value: Any) -> Any:
    """Return plain data with every text visible, every float short, and none that JSON cannot hold."""
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, float):
        return round(value, DECIMALS) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {visible(str(key)): seemly(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [seemly(item) for item in value]
    return value
