"""Errors of the buffer.

::

    BufferError
    ├── SecondWriter    (RuntimeError)  another process, or this one, has the buffer open for writing
    ├── BufferFull      (OSError)       the disk, or the index, takes no more; nothing committed is lost
    ├── Damaged         (ValueError)    bytes on the disk are not those that were written
    ├── Gone            (LookupError)   an episode was dropped, or never was there
    └── DuplicateKey    (ValueError)    an environment has an episode of that time already
"""

from __future__ import annotations


class BufferError(Exception):
    """What goes wrong with a trajectory buffer."""


class SecondWriter(BufferError, RuntimeError):
    """A buffer has one writer at a time."""


class BufferFull(BufferError, OSError):
    """No more can be written; what was committed is there, what was not can be committed when there is room."""


class Damaged(BufferError, ValueError):
    """What is on the disk is not what was written."""


class Gone(BufferError, LookupError):
    """There is no such episode, or there is none any more."""


class DuplicateKey(BufferError, ValueError):
    """Two episodes of an environment have the same time."""
