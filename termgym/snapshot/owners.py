"""Whose files they are, as the agent sees it.

An ordinary user's sandbox shows the caller's own uid as the agent's. Digests and diffs must say what the agent sees,
or the same episode would have another digest for root than for a user.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_shown_uids: dict[int, int] = {}
_shown_gids: dict[int, int] = {}
_plainly = False


def show(uid: int, gid: int, *, as_uid: int, as_gid: int) -> None:
    """Let this process's digests and diffs show one owner as another, from now on."""
    _shown_uids[uid] = as_uid
    _shown_gids[gid] = as_gid


@contextmanager
def plainly(really: bool) -> Iterator[None]:
    """Show owners as they are meanwhile: the agent of an image is root, and so is this process to its own files."""
    global _plainly
    before, _plainly = _plainly, really
    try:
        yield
    finally:
        _plainly = before


def shown(uid: int, gid: int) -> tuple[int, int]:
    """Return an owner as digests and diffs show it."""
    if _plainly:
        return uid, gid
    return _shown_uids.get(uid, uid), _shown_gids.get(gid, gid)
