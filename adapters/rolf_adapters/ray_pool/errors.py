"""What goes wrong in a pool, and what Ray says of it.

RuntimeError
└── PoolError
"""

from __future__ import annotations


class PoolError(RuntimeError):
    """No actor lives long enough to play anything."""


def said(error: object) -> str:
    """Return what an error of Ray's says, in one line; whole, it is forty of a traceback."""
    return " ".join(str(error).split())[:300]
