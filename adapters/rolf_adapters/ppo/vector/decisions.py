"""Decisions: what the orchestrator has decided and why, one line of JSON an iteration, in the training's folder.

A checkpoint says how many lines there were, and a training that goes on cuts off what follows them: one that was killed
and resumed writes the same bytes as an undisturbed one. Where a training goes back to an earlier checkpoint the lines
stay, as those of ``metrics.jsonl`` do; the iterations after them begin again at a smaller number.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

DECISIONS = "decisions.jsonl"


class Decisions:
    """The file, of which the first process of a training writes the lines and all of them count.

    Args:
        folder: The training's.
        writes: Whether this process is the first.
    """

    def __init__(self, folder: Path, *, writes: bool) -> None:
        self._path, self._writes = folder / DECISIONS, writes
        self._file: BinaryIO | None = None
        self.lines = 0
        """How many count."""

    def add(self, iteration: int, decided: Mapping[str, Any]) -> None:
        """Write down what was decided for an iteration."""
        if self._writes:
            if self._file is None:
                self._cut()  # what a training has left that was killed before its first checkpoint
                self._file = self._path.open("ab")
            self._file.write(json.dumps({"iteration": iteration, **decided}, allow_nan=False).encode() + b"\n")
            self._file.flush()
        self.lines += 1

    def sync(self) -> int:
        """Wait until the disk has all lines, and return how many there are."""
        if self._file is not None:
            os.fsync(self._file.fileno())
        return self.lines

    def load(self, lines: int) -> None:
        """Go back to so many lines; what follows them is cut off.

        Raises:
            ValueError: there are fewer.
        """
        self.close()
        self.lines = lines
        self._cut()

    def stay(self) -> int:
        """Go on after all whole lines that are there; return how many that are, 0 in all processes but the first."""
        self.close()
        self.lines = self._path.read_bytes().count(b"\n") if self._writes and self._path.exists() else 0
        self._cut()
        return self.lines

    def close(self) -> None:
        """Have all on the disk and close the file; may be called again."""
        if self._file is not None:
            self.sync()
            self._file.close()
            self._file = None

    def _cut(self) -> None:
        if not self._writes or (self.lines == 0 and not self._path.exists()):
            return
        with self._path.open("r+b" if self._path.exists() else "w+b") as file:
            for number in range(self.lines):
                if not file.readline().endswith(b"\n"):
                    raise ValueError(
                        f"{str(self._path)!r} has {number} whole lines of {self.lines} that the checkpoint tells of; "
                        "put the file back, or begin anew in another folder"
                    )
            file.truncate()
