"""Leftover: a tree that was thrown away, kept in one piece until there is time to take it apart."""

from __future__ import annotations

import os
from pathlib import Path

_LIGHT = 8 << 20
"""Memory that a leftover may hold on to [bytes]; it counts against the limit of the shell that comes next."""


class Leftover:
    """Puts off what unmounting a tree costs.

    The kernel then frees every file that anybody has looked at: 20 ms where an agent has listed ten thousand, and a
    reset would wait for it. A descriptor of the tree's root puts it off until that is closed.
    """

    def __init__(self) -> None:
        self._root = -1

    def keep(self, tree: Path) -> None:
        """Hold on to a mounted tree that is about to be unmounted, if it is light; the one before is let go."""
        self.clear()
        figures = os.statvfs(tree)
        if (figures.f_blocks - figures.f_bfree) * figures.f_frsize <= _LIGHT:
            self._root = os.open(tree, os.O_PATH | os.O_DIRECTORY)

    @property
    def there(self) -> bool:
        """Whether there is something to take apart."""
        return self._root >= 0

    def clear(self) -> None:
        """Take it apart."""
        if self._root >= 0:
            os.close(self._root)
            self._root = -1
