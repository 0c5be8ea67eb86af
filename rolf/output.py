"""All of the output: what an observation has no room for, in a file beside the trajectory.

An environment whose observations leave out part of what its programs wrote offers ``record_output(sink)``: from the
next step on it hands to the sink, at the end of each step, every stream that observation and info do not hold in full.
``RecordTrajectory`` gives it an `OutputFile`; without a recorder nothing is kept and nothing is paid.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import BinaryIO, Protocol

BUDGET = 256 << 20
"""What the output of an episode may take on the disk unless told otherwise [bytes]."""
SUFFIX = ".output"
"""What the file beside a trajectory has at the end of its name."""


class OutputSink(Protocol):
    """Takes the streams of one step after another."""

    @property
    def folder(self) -> str:
        """Where what does not fit into memory may lie until its step ends."""

    @property
    def room(self) -> int:
        """How much it will still take in this episode [bytes]."""

    def take(self, stream: str, pieces: Iterable[bytes], missing: int) -> None:
        """Take one stream of the step that has just ended.

        Args:
            stream: ``stdout``, ``stderr`` or whatever the environment calls it.
            pieces: all of it, from the beginning, as far as it was kept.
            missing: how much more there was [bytes].
        """


class OutputFile:
    """The file beside a trajectory, within a budget for each episode; made when there is something to be put into it.

    Args:
        trajectory: the trajectory's file.
        budget: how much an episode may add [bytes].
        overwrite: whether an existing file may be replaced.

    Raises:
        FileExistsError: the file is there and ``overwrite`` is False.
    """

    def __init__(self, trajectory: str | Path, budget: int, *, overwrite: bool = False) -> None:
        self._path = Path(f"{trajectory}{SUFFIX}")
        self._budget = self._room = budget
        self._file: BinaryIO | None = None
        self._told: dict[str, dict[str, int]] = {}
        if overwrite:
            self._path.unlink(missing_ok=True)
        elif self._path.exists():
            message = f"{str(self._path)!r} is there already; give another path, or overwrite=True to replace it"
            raise FileExistsError(message)

    @property
    def folder(self) -> str:
        """See ``OutputSink.folder``."""
        return str(self._path.parent)

    @property
    def room(self) -> int:
        """See ``OutputSink.room``."""
        return self._room

    def begin_episode(self) -> None:
        """Give the next episode the whole budget."""
        self._room = self._budget

    def take(self, stream: str, pieces: Iterable[bytes], missing: int) -> None:
        """See ``OutputSink.take``. What is over the budget is left out, and the line of the step says how much."""
        if self._file is None:
            self._file = self._path.open("xb")
        begin = self._file.tell()
        for piece in pieces:
            kept = piece[: self._room]
            self._file.write(kept)
            self._room -= len(kept)
            missing += len(piece) - len(kept)
        self._file.flush()
        self._told[stream] = {
            "at": begin,
            "bytes": self._file.tell() - begin,
            **({"missing": missing} if missing else {}),
        }

    def told(self) -> dict[str, dict[str, int]]:
        """Return, once, where the streams of the latest step are: ``at`` and ``bytes``, and ``missing`` if any are."""
        told, self._told = self._told, {}
        return told

    def close(self) -> None:
        """Close the file; may be called again."""
        if self._file is not None:
            self._file.close()


def read_output(trajectory: str | Path, where: Mapping[str, int]) -> bytes:
    """Return one stream of a step from the file beside its trajectory.

    Args:
        trajectory: the trajectory's file.
        where: what the step's line says of the stream, e.g. ``line.content["output"]["stdout"]``.
    """
    with open(f"{trajectory}{SUFFIX}", "rb") as file:
        file.seek(where["at"])
        return file.read(where["bytes"])
