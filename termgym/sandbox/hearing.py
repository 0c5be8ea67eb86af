"""Waiting for a verifier, in the process that asked for it: the supervisor serves others meanwhile."""

from __future__ import annotations

import os
import select
import time
from typing import NamedTuple

_HEAD = 256 << 10  # kept of the output's beginning [bytes]
_TAIL = 256 << 10  # and of its end, where verdicts are explained
_PIECE = 64 << 10


class Heard(NamedTuple):
    """What a verifier said until it ended."""

    output: bytes
    """Head and tail, if it was too much."""
    size: int
    """[bytes]"""
    timed_out: bool


def hear(output: int, gone: int, timeout: float) -> Heard:
    """Take a program's output until it has ended, or the time is over.

    Args:
        output: read end of the pipe that it writes to.
        gone: readable once it has ended; its pipe may be held by others for ever.
        timeout: [s]
    """
    os.set_blocking(output, False)
    head, tail, size = bytearray(), bytearray(), 0
    poll = select.poll()
    poll.register(output, select.POLLIN)
    poll.register(gone, select.POLLIN)
    end = time.monotonic() + timeout
    timed_out = ended = False
    while not ended and not timed_out:
        ready = {fd for fd, _ in poll.poll(max(0.0, end - time.monotonic()) * 1000)}
        ended = gone in ready
        timed_out = not ended and time.monotonic() >= end
        while output in ready or ended or timed_out:
            piece = _read(output)
            if not piece:
                if piece is not None and not ended:
                    poll.unregister(output)
                break
            size += len(piece)
            room = _HEAD - len(head)
            head += piece[:room]
            tail += piece[room:]
            del tail[:-_TAIL]
            if time.monotonic() >= end:  # a flood has no end
                break
    return Heard(bytes(head + tail), size, timed_out)


def _read(fd: int) -> bytes | None:
    """Return what is there, empty where nobody holds the other end any more, None where nothing is there yet."""
    try:
        return os.read(fd, _PIECE)
    except BlockingIOError:
        return None
