"""Child processes without ``fork``: posix_spawn(3) costs a tenth, and the supervisor starts shells all day."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from termgym.sandbox.death import ended


class Child:
    """A process started by ``spawn``; its exit status is kept for whoever asks."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._status: int | None = None

    def wait(self, timeout: float) -> int | None:
        """Return the exit status (128 + signal), or None if it still runs after ``timeout`` [s]."""
        if self._status is None and (code := ended(self.pid, timeout)) is not None:
            self._status = code if code >= 0 else 128 - code
        return self._status


def spawn(
    argv: Sequence[str], env: Mapping[str, str], streams: Mapping[int, int], *, terminal: str | None = None
) -> Child:
    """Start a program as the leader of a session of its own.

    Args:
        argv: the program, found by the supervisor's own path.
        env: its environment.
        streams: its descriptor -> ours; nothing else is passed on. No key may be another's value, but a key may be
            its own.
        terminal: a tty that becomes its descriptor 1, 2 and controlling terminal: a session leader without one
            gets the first tty that it opens (ioctl_tty(2)).

    Raises:
        OSError: no program of that name, or no process left.
    """
    actions: list[tuple[int, ...] | tuple[int, int, str, int, int]] = []
    if terminal is not None:
        actions.append((os.POSIX_SPAWN_OPEN, 1, terminal, os.O_RDWR, 0))
        actions.append((os.POSIX_SPAWN_DUP2, 1, 2))
    actions += [(os.POSIX_SPAWN_DUP2, ours, theirs) for theirs, ours in streams.items()]
    pid = os.posix_spawnp(
        argv[0],
        list(argv),
        env,
        file_actions=actions,
        setsid=True,
        setsigmask=[],
        setsigdef=_RESET,
    )
    return Child(pid)


_RESET = [number for number in range(1, 65) if number not in (9, 19, 32, 33)]  # KILL, STOP and libc's own
