"""Folder: the files of an evaluation, open for one run, whole after any number of killed ones.

While it runs, ``results.partial.jsonl`` gets the rows of each unit in one write, after the unit's trajectory is in its
place; ``submission.partial.json`` and ``lock.json`` say what is played. A run that is killed leaves at worst a part of
a line and trajectories without rows, which the next one cuts off and writes anew. At the end the rows are sorted into
``results.jsonl``, ``submission.json`` is written, and what was partial is removed, in this order: whenever that stops,
the next run does it again.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from rolf.evaluation import atomic, rows
from rolf.evaluation.episode import Episode
from rolf.evaluation.errors import FolderError
from rolf.evaluation.identity import Identity
from rolf.evaluation.unit import Unit
from rolf.output import SUFFIX

LOCK, SUBMISSION, RESULTS, TRAJECTORIES = "lock.json", "submission.json", "results.jsonl", "trajectories"
BEGUN, PARTIAL = "submission.partial.json", "results.partial.jsonl"
OURS = (LOCK, SUBMISSION, RESULTS, TRAJECTORIES, BEGUN, PARTIAL)
WELCOME = ("README.md",)
"""What else may lie there."""
WRITTEN = re.compile(r"(\d{5,}-\d+|block-\d{5,})\.jsonl(\.gz)?(\.output|\.partial)?")
"""What files of trajectories are called, whole or not."""


class Folder:
    """Where an evaluation is written.

    Args:
        path: The folder; it is made.
        identity: What is evaluated.

    Raises:
        FolderError: it cannot be written, holds something else or another evaluation, or another run is at it.
    """

    def __init__(self, path: Path, identity: Identity) -> None:
        self.path = path
        self.trajectories = path / TRAJECTORIES
        self._identity = identity
        self._file: BinaryIO | None = None
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise FolderError(f"{str(path)!r}: {error.strerror}; give a folder that can be written to") from error
        try:
            with self._writing():
                self._begin()
        except BaseException:
            self.__exit__(None, None, None)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._file is not None:
            self._file.close()
        os.close(self._handle)

    def kept(self, units: Sequence[Unit]) -> list[Episode]:
        """Return the rows of earlier runs that count, and open the file for those to come.

        A unit counts if all its rows are there, with its trajectory, and none tells of a fault of the machine: that
        says nothing of the policy, and the unit is played again.
        """
        by_place = {(row.index, row.attempt): row for row in self._read()}
        kept: list[Episode] = []
        for unit in units:
            found = [by_place[place] for place in unit.places if place in by_place]
            whole = len(found) == len(unit.places) and not any(row.fault for row in found)
            if whole and (self.trajectories / unit.trajectory).exists():
                kept += found
        if (self.path / BEGUN).exists() or len(kept) < sum(len(unit.places) for unit in units):
            with self._writing():
                self._reopen(kept)
        return kept

    def add(self, episodes: Iterable[Episode]) -> None:
        """Write down the rows of a unit; they are in the file when this returns.

        Raises:
            FolderError: the disk is full, or gone.
        """
        assert self._file is not None
        with self._writing():
            self._file.write(b"".join(map(rows.line, episodes)))
            self._file.flush()

    def finish(self, episodes: Sequence[Episode]) -> dict[str, Any]:
        """Write the files of a whole evaluation and return what submission.json says.

        Raises:
            FolderError: the disk is full, or gone.
        """
        with self._writing():
            atomic.write(self.path / RESULTS, b"".join(map(rows.line, rows.ordered(episodes))))
            self._sweep(episodes)
            told = self._identity.submission() | {
                "summary": rows.summary(episodes),
                "results_sha256": rows.results_digest(episodes),
                "lock_sha256": hashlib.sha256((self.path / LOCK).read_bytes()).hexdigest(),
            }
            atomic.write(self.path / SUBMISSION, _document(told))
            for name in (PARTIAL, BEGUN):
                (self.path / name).unlink(missing_ok=True)
        return told

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Say what could not be written, and that nothing before is lost."""
        try:
            yield
        except OSError as error:
            wrong = f"{str(error.filename or self.path)!r} cannot be written: {error.strerror}"
            raise FolderError(f"{wrong}; when it can, the same command goes on") from error

    def _begin(self) -> None:
        """Take the folder for this run, and see that it is an evaluation of the same, or none yet."""
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            wrong = f"another run writes to {str(self.path)!r}"
            raise FolderError(f"{wrong}; wait for its end, or give another folder") from error
        others = sorted({each.name for each in self.path.iterdir()} - {*OURS, *WELCOME})
        others = [name for name in others if name.removesuffix(atomic.SUFFIX) not in OURS]
        if others:
            wrong = f"{str(self.path)!r} holds other things ({', '.join(map(repr, others[:3]))})"
            raise FolderError(f"{wrong}; give a folder of its own")
        begun = next((name for name in (BEGUN, SUBMISSION) if (self.path / name).exists()), None)
        if begun is None and ((self.path / RESULTS).exists() or (self.path / PARTIAL).exists()):
            raise FolderError(f"{str(self.path)!r} holds results and no {SUBMISSION}; give a folder of its own")
        if begun is None or (begun == BEGUN and not self._has_rows()):
            atomic.write(self.path / LOCK, _document(self._identity.lock))
            atomic.write(self.path / BEGUN, _document(self._identity.submission()))
        else:
            self._identity.check(self._document(begun), self._document(LOCK), self.path)
        self.trajectories.mkdir(exist_ok=True)

    def _has_rows(self) -> bool:
        """Return whether there is a whole row: without one, nothing is lost to whoever begins with something else."""
        return any(b"\n" in path.read_bytes() for path in (self.path / RESULTS, self.path / PARTIAL) if path.exists())

    def _reopen(self, kept: Sequence[Episode]) -> None:
        """Write what counts of earlier runs, and leave the file open."""
        atomic.write(self.path / BEGUN, _document(self._identity.submission()))
        atomic.write(self.path / PARTIAL, b"".join(map(rows.line, kept)))
        self._file = (self.path / PARTIAL).open("ab")

    def _read(self) -> list[Episode]:
        """Return all rows that are whole."""
        path = next((self.path / name for name in (PARTIAL, RESULTS) if (self.path / name).exists()), None)
        if path is None:
            return []
        found: list[Episode] = []
        *lines, _ = path.read_bytes().split(b"\n")  # after the last line's end: nothing, or what a killed run began
        for number, line in enumerate(lines, start=1):
            try:
                found.append(rows.from_json(json.loads(line)))
            except ValueError as error:
                raise FolderError(f"{str(path)!r}, line {number}: {error}; give a folder of its own") from error
        return found

    def _document(self, name: str) -> Mapping[str, Any]:
        path = self.path / name
        try:
            found = json.loads(path.read_bytes())
        except FileNotFoundError as error:
            raise FolderError(f"{str(self.path)!r} has no {name}; give a folder of its own") from error
        except ValueError as error:
            raise FolderError(f"{str(path)!r} is not JSON: {error}; give a folder of its own") from error
        if not isinstance(found, dict):
            raise FolderError(f"{str(path)!r} is no file of an evaluation; give a folder of its own")
        return found

    def _sweep(self, episodes: Iterable[Episode]) -> None:
        """Remove what killed runs and faults have left among the trajectories."""
        wanted = {row.trajectory.partition("#")[0] for row in episodes}
        for path in self.trajectories.iterdir():
            if WRITTEN.fullmatch(path.name) and path.name.removesuffix(SUFFIX) not in wanted:
                path.unlink()


def _document(plain: Mapping[str, Any]) -> bytes:
    return (json.dumps(plain, indent=1, allow_nan=False) + "\n").encode()
