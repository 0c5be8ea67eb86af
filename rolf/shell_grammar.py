"""The syntax of bash text, read by tree-sitter's grammar without harm.

The grammar's scanner (tree-sitter-bash 0.25.1) looks each character up in the C library's table of 256 without asking
whether it is one of those: just beyond the table that reads other memory, far beyond it ends the process (``a&{`` and
U+CB647). So it is shown ASCII alone, byte for byte as long as the text, and words are taken from the text itself.
"""

from __future__ import annotations

import re
from functools import cache

import tree_sitter_bash
from tree_sitter import Language, Parser, Tree

STAND_IN = "\ufffd"
"""What half a surrogate pair becomes, which no encoding holds."""
_HALF = re.compile("[\ud800-\udc7f\udd00-\udfff]")
_SHOWN = bytes(each if each < 0x80 else ord(".") for each in range(256))
"""A dot for each byte beyond ASCII: as bash has it, part of a word, of no name, and no blank."""


def readable(text: str) -> bytes:
    """Return a text of bash as `parse` takes it.

    NUL, which ends the text for the grammar and which bash drops, is left out; U+FFFD stands for half a surrogate pair.
    A byte that was no UTF-8 where the text came from (``surrogateescape``) is that byte again.
    """
    return _HALF.sub(STAND_IN, text.replace("\0", "")).encode("utf-8", "surrogateescape")


def parse(data: bytes) -> Tree:
    """Return the syntax of a text of bash; what `readable` gives, or a part of it.

    The text of the tree's nodes is that of ``data``. The time that some texts take grows with their square.
    """
    shown = bytearray(data.translate(_SHOWN))
    tree = Parser(_language()).parse(shown)
    shown[:] = data  # nodes read their text from here, when they are asked for it
    return tree


@cache
def _language() -> Language:
    return Language(tree_sitter_bash.language())
