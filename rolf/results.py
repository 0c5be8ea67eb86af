"""Results: verdicts in a file, a JSON object a line, so that a run which was killed goes on where it stopped.

A line is written and flushed as soon as there is a verdict. Whoever is killed amid a line leaves a part of one, which
the next run cuts off. A verdict counts again only for the same content under the same version of rolf, and a fault
never does: it says nothing of the task.
"""

from __future__ import annotations

import fcntl
import json
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from rolf import __version__
from rolf.environments import Case, Verdict


class Results:
    """A file of verdicts, open for one run.

    Raises:
        ValueError: the file cannot be written, holds something else, or another run has it open.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file = path.open("a+b")
        except OSError as error:
            raise ValueError(f"--results {str(path)!r}: {error.strerror}; give a file that can be written") from error
        try:
            self._lock()
            self._kept = self._read()
        except ValueError:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()

    def kept(self, env_id: str, case: Case) -> Verdict | None:
        """Return the verdict that an earlier run came to about the very same case, if there is one."""
        return self._kept.get((env_id, case.task, case.digest))

    def add(self, env_id: str, verdict: Verdict, digest: str = "") -> None:
        """Write down a verdict; it is in the file when this returns."""
        row = {"env": env_id, "version": __version__, "digest": digest, **told(verdict)}
        self._file.write(json.dumps(row).encode() + b"\n")
        self._file.flush()

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            wrong = f"--results {str(self._path)!r}: another run writes to it"
            raise ValueError(f"{wrong}; wait for its end, or give another file") from error

    def _read(self) -> dict[tuple[str, str, str], Verdict]:
        """Return the verdicts that count, and cut off what a killed run has left of a line."""
        self._file.seek(0)
        text = self._file.read()
        *lines, rest = text.split(b"\n")
        kept = {}
        for number, line in enumerate(lines, start=1):
            row = self._row(line, number)
            if row["version"] == __version__ and not row["fault"] and row["digest"]:
                verdict = Verdict(row["task"], tuple(row["problems"]), row["seconds"], notes=tuple(row["notes"]))
                kept[row["env"], row["task"], row["digest"]] = verdict
        if rest:
            if not rest.startswith(_BEGIN[: len(rest)]):  # never the beginning of a verdict: a file given by mistake
                self._row(rest, len(lines) + 1)
            self._file.truncate(len(text) - len(rest))
        return kept

    def _row(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if not isinstance(row, dict) or not row.keys() >= _KEYS:
            wrong = f"--results {str(self._path)!r}, line {number}: no verdict but {line[:60]!r}"
            raise ValueError(f"{wrong}; give a file that this command wrote, or one that is not there yet")
        return row


def told(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as values that JSON can hold."""
    return {
        "task": verdict.task,
        "valid": verdict.valid,
        "problems": list(verdict.problems),
        "notes": list(verdict.notes),
        "fault": verdict.fault,
        "seconds": round(verdict.seconds, 3),
    }


_KEYS = frozenset({"env", "version", "digest", "task", "problems", "notes", "fault", "seconds"})
_BEGIN = b'{"env": '
