"""Stopping: ^C and SIGTERM end a training after the iteration that is under way, with a checkpoint."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Self

_HEARD = b"\nstopping after this iteration, with a checkpoint; ^C again stops at once, without\n"


class Stop:
    """Hears signals within the context. The second ^C raises KeyboardInterrupt.

    Args:
        aloud: Whether it says so on stderr.
    """

    def __init__(self, *, aloud: bool = True) -> None:
        self.asked = False
        self._aloud = aloud
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
        if self.asked and number == signal.SIGINT:
            raise KeyboardInterrupt
        if self._aloud and not self.asked:
            os.write(2, _HEARD)
        self.asked = True
