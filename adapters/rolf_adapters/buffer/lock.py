"""Lock: one writer a buffer, let go by the system when its process ends, however it ends."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from rolf_adapters.buffer.errors import SecondWriter

_held: dict[str, int] = {}
"""Files that this process holds -> its number: a child that was forked has a copy of this, and holds nothing."""


class WriterLock:
    """The right to write, for as long as it is held.

    A record lock of POSIX: children that are forked do not inherit it, so it does not outlive its process in one of
    them. It does not keep a process from itself, hence the list of what is held.

    Raises:
        SecondWriter: somebody has it.
    """

    def __init__(self, path: Path) -> None:
        self._name = os.path.realpath(path)
        self._descriptor = -1
        if _held.get(self._name) == os.getpid():
            raise SecondWriter(f"this process has {str(path.parent)!r} open for writing already; close that first")
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            os.close(descriptor)
            raise SecondWriter(
                f"another process has {str(path.parent)!r} open for writing; a buffer has one writer, and any number "
                f"of readers: TrajectoryBuffer(..., readonly=True)"
            ) from None
        self._descriptor = descriptor
        _held[self._name] = os.getpid()

    def release(self) -> None:
        """Let it go; may be called again."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
            _held.pop(self._name, None)
