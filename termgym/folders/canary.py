"""Canary: lines that mark a benchmark's files so that nobody trains on them; they are not for the agent's eyes."""

from __future__ import annotations

import re

_LINE = re.compile(r"^(<!--.*canary.*-->|#.*canary.*)$", re.IGNORECASE)  # as in harbor 0.26.0, models/task/task.py


def without_canary(text: str) -> str:
    """Return an instruction without leading canary lines and the blank lines after them.

    Example:
        >>> without_canary("<!-- canary GUID 1 -->\\n\\nDo it.\\n")
        'Do it.\\n'
    """
    lines = text.split("\n")
    start = 0
    while start < len(lines) and _LINE.match(lines[start].strip()):
        start += 1
    while start < len(lines) and not lines[start].strip():
        start += 1
    return "\n".join(lines[start:])
