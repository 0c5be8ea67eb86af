"""What every snapshot backend can do."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from termgym.snapshot.change import Change


class Snapshot(Protocol):
    """A base tree that never changes, and a live tree that starts equal to it.

    Runs in the process that holds the mounts. Every process that could write to the live tree must be dead
    before ``restore``, ``save`` and ``load``; ``diff`` and ``digest`` may be called at any time.
    """

    name: str
    """Backend: ``overlay``, ``overlay-userns``, ``manifest`` or ``rsync``."""
    base: Path
    live: Path
    """The tree to give to the sandbox. The directory stays the same path across ``restore``; it may be a new mount."""

    def restore(self) -> None:
        """Make the live tree equal to the base: content, type, mode, owner, xattrs, link structure, mtime."""

    def diff(self) -> tuple[Change, ...]:
        """Return what differs between base and live, sorted."""

    def digest(self) -> str:
        """Return the Merkle digest of the live tree (hex), equal across backends; modification times do not count."""

    def save(self) -> str:
        """Keep the live tree as it is now under a token."""

    def load(self, token: str) -> None:
        """Make the live tree equal to what ``save`` kept; may be called any number of times."""

    def aside(self) -> AbstractContextManager[Path]:
        """Show the live tree in a place where whatever is written is gone when the context ends.

        No process may write to the live tree meanwhile, and none may be left on that place when it ends.
        """

    def forget(self, token: str) -> None:
        """Free what ``save`` kept."""

    def close(self) -> None:
        """Unmount and remove everything but the base."""
