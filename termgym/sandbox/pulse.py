"""Pulse: while the supervisor works or waits for something, it feels now and then whether its owner still lives."""

from __future__ import annotations

import contextlib
import os
import select
import signal
from collections.abc import Iterator

_BEAT = 1.0  # [s]
_LAST_DEADLINE = 60.0
"""For clearing up after the owner [s]; then the kernel ends the supervisor, and its mounts and processes with it."""


class OwnerGone(BaseException):
    """Raised wherever the supervisor is when its owner is found to be gone; nobody waits for an answer any more."""


class Pulse:
    """Looks after one owner.

    Raises:
        ProcessLookupError: it is gone already.
    """

    def __init__(self, owner_pid: int) -> None:
        self.owner = os.pidfd_open(owner_pid)
        """Readable once the owner has ended."""
        signal.signal(signal.SIGALRM, self._feel)

    @contextlib.contextmanager
    def felt(self) -> Iterator[None]:
        """Have the context left by ``OwnerGone`` when the owner ends, whatever is waited for in it."""
        signal.setitimer(signal.ITIMER_REAL, _BEAT, _BEAT)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)

    def _feel(self, _signal: int, _frame: object) -> None:
        poll = select.poll()
        poll.register(self.owner, select.POLLIN)
        if poll.poll(0):
            raise OwnerGone


def limit_the_end() -> None:
    """Let the kernel end this process if what it still has to do takes too long."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, _LAST_DEADLINE)
