"""Stopping: ^C and SIGTERM end a training after the iteration that is under way, with a checkpoint."""

from __future__ import annotations

import os
import signal
import threading
import time
from types import FrameType, TracebackType
from typing import Any, Self

_HEARD = b"\nstopping after this iteration, with a checkpoint; ^C again stops at once, without\n"


class Stop:
    """Hears signals within the context. The second ^C raises KeyboardInterrupt.

    Args:
        aloud: Whether it says so on stderr.
        echo: How long another ^C counts as the same one: torchrun passes on what the terminal has told already [s].
    """

    def __init__(self, *, aloud: bool = True, echo: float = 0.0) -> None:
        self.asked = False
        self._aloud = aloud
        self._echo = echo
        self._heard_at = 0.0
        self._former: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():  # elsewhere there are no signals to be heard
            for number in (signal.SIGINT, signal.SIGTERM):
                self._former[number] = signal.signal(number, self._heard)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for number, former in self._former.items():
            signal.signal(number, former)

    def _heard(self, number: int, _frame: FrameType | None) -> None:
        if self.asked:
            if number == signal.SIGINT and time.monotonic() - self._heard_at >= self._echo:
                raise KeyboardInterrupt
            return
        if self._aloud:
            os.write(2, _HEARD)
        self.asked, self._heard_at = True, time.monotonic()
