"""One vocabulary for what changed in a tree, whatever backend saw it."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class ChangeKind(StrEnum):
    """What about an entry changed."""

    ADDED = "added"
    REMOVED = "removed"
    TYPE = "type"
    """A file became a directory, a link, a FIFO…; then no other kind is reported for the path."""
    CONTENT = "content"
    """Bytes of a file, or the target of a symbolic link."""
    MODE = "mode"
    OWNER = "owner"
    XATTR = "xattr"
    """Extended attributes, POSIX ACLs and file capabilities included."""
    LINK = "link"
    """Which other paths are the same file (hard links)."""
    MTIME = "mtime"
    """Only the modification time changed (``touch``); from what to what is left out, for that reads a clock. Not for
    directories: theirs follows from their entries."""


class Change(NamedTuple):
    """One thing about one path that differs from the snapshot. Sorts by path, then kind."""

    path: str
    """Absolute path as the agent sees it; undecodable bytes as surrogates (``os.fsdecode``)."""
    kind: ChangeKind
    before: str | None = None
    """The old value in words (``0644``, ``1000:1000``, ``file``, a content digest); None where there was none."""
    after: str | None = None
