"""Whether several threads can step lines in this process: not if it was forked from one in which they did.

A fork takes along the thread that called it and no other, so that the child waits for threads that do not exist; GNU
OpenMP ends it at once. Numbers do not depend on threads, so such a child steps with one.
"""

from __future__ import annotations

import logging
import os
from functools import cache

logger = logging.getLogger(__name__)

_used = False
_lost = False


def note_use() -> None:
    """Note that several threads are used from now on."""
    global _used
    _used = True


def usable() -> bool:
    """Return whether several threads may be used; the first time that they may not, say why."""
    if _lost:
        _warn()
    return not _lost


@cache
def _warn() -> None:
    logger.warning(
        "this process was forked after several threads had stepped lines, so it steps with one; "
        "use them only after the fork, or the start method 'forkserver' or 'spawn'"
    )


def _lose() -> None:
    global _lost
    _lost = _used


os.register_at_fork(after_in_child=_lose)
