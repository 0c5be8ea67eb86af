"""What tree-sitter's grammar of bash can be given without harm.

Its scanner (tree-sitter-bash 0.25.1) looks each character up in the C library's table of 256 without asking whether it
is one of those. Just beyond the table that reads other memory; far beyond, it ends the process: ``a&{`` and U+CB647.
"""

from __future__ import annotations

import re

FAR = re.compile("[^\x00-\uffff]|[\ud800-\udc7f\udd00-\udfff]")
"""Letters beyond the basic plane (nothing before them was seen to do harm), and surrogates that stand for no byte."""
STAND_IN = "\ufffd"
"""What stands for such a letter: it is none of bash's syntax."""
_FOREIGN = re.compile(r"[^\x00-\x7f]")


def skeleton(text: str) -> bytes:
    """Return a text of bash for one who asks what programs it runs and not what they are told: ASCII alone.

    An ``x`` stands for each other letter, so that nothing is looked up beyond the table at all.
    """
    return _FOREIGN.sub("x", text).encode()


def readable(text: str) -> bytes:
    """Return a text of bash with the same syntax that the grammar can read.

    NUL, which ends the text for the grammar and which bash drops, is left out; U+FFFD stands for each letter beyond the
    basic plane. A byte that was no UTF-8 where the text came from (``surrogateescape``) is that byte again.
    """
    return FAR.sub(STAND_IN, text.replace("\0", "")).encode("utf-8", "surrogateescape")
