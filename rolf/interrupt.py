"""What ^C means while a person talks to an environment: never the end."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

_STILL_THERE = b"\n^C was sent again; what ignores it is stopped at its time-out (60 s for a plain line)\n"


class Interrupts:
    """Hears ^C, within the context, and raises nothing but where that was asked for.

    Args:
        pass_on: Hands it to the program that runs. Called in a signal handler.
    """

    def __init__(self, pass_on: Callable[[], None]) -> None:
        self._pass_on = pass_on
        self._raising = False
        self._passing = False
        self._count = 0
        self._former: Callable[[int, FrameType | None], Any] | int | None = None

    def __enter__(self) -> None:
        self._former = signal.signal(signal.SIGINT, self._heard)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        signal.signal(signal.SIGINT, self._former)

    def _heard(self, _number: int, _frame: FrameType | None) -> None:
        if self._raising:
            self._raising = False
            raise KeyboardInterrupt
        if self._passing:
            self._count += 1
            self._pass_on()
            if self._count > 1:
                os.write(2, _STILL_THERE)

    @contextmanager
    def raised(self) -> Iterator[None]:
        """Raise KeyboardInterrupt in the body, at most once."""
        self._raising = True
        try:
            yield
        finally:
            self._raising = False

    @contextmanager
    def passed_on(self) -> Iterator[None]:
        """Hand ^C to the program that runs in the body; the body goes on."""
        self._passing, self._count = True, 0
        try:
            yield
        finally:
            self._passing = False
