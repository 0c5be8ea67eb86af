"""Work for processes: what it does with a piece is what the piece says."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rolf.jobs import done


@dataclass(frozen=True)
class Toil:
    """Opens ``open``, does pieces, and notes what it closed."""

    folder: Path
    opens: str = ""

    @contextmanager
    def open(self) -> Iterator[Callable[[str], str]]:
        if self.opens:
            raise RuntimeError(self.opens)
        try:
            yield self._do
        finally:
            (self.folder / f"closed-{os.getpid()}").touch()

    def lost(self, piece: str, seconds: float, end: str) -> str:
        assert seconds >= 0
        return f"{piece} lost: {end}"

    def _do(self, piece: str) -> str:
        if piece == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if piece == "wait":
            (self.folder / f"waiting-{os.getpid()}").touch()
            threading.Event().wait()
        if piece == "fail":
            raise RuntimeError("no machine")
        if piece == "signals":
            return f"{signal.getsignal(signal.SIGINT) == signal.SIG_IGN} {signal.pthread_sigmask(signal.SIG_BLOCK, ())}"
        return f"{piece} done by {os.getpid()}"


if __name__ == "__main__":
    folder, *pieces = sys.argv[1:]
    for _, result in done(Toil(Path(folder)), pieces, 2):
        print(result, flush=True)
