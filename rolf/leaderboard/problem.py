"""Problem: one thing that is wrong with a submission, said so that its author can find and mend it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

LONGEST = 120
"""Longest value that is quoted [characters]."""
MOST = 200
"""Problems of one submission that are told; of the rest only the number is."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong."""

    file: str
    """Relative to the submission."""
    what: str
    line: int | None = None
    """Line of the file, from 1."""
    got: str = ""
    """The value in the file, as Python would write it."""
    expected: str = ""
    """The value that should be there, or what is allowed."""
    advice: str = ""
    """What to do about it."""

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}, line {self.line}"
        values = f": got {self.got}" if self.got else ""
        values += f"{', ' if values else ': '}expected {self.expected}" if self.expected else ""
        return f"{where}: {self.what}{values}{f'; {self.advice}' if self.advice else ''}"


class Problems:
    """All that is wrong with one submission, as far as it is told."""

    def __init__(self) -> None:
        self.kept: list[Problem] = []
        self.count = 0

    def add(
        self,
        file: str,
        what: str,
        *,
        line: int | None = None,
        got: Any = None,
        expected: Any = None,
        advice: str = "",
    ) -> None:
        """Note a problem; ``got`` and ``expected`` are quoted unless they are None, text in ``expected`` verbatim."""
        self.count += 1
        if len(self.kept) < MOST:
            wanted = expected if isinstance(expected, str) else "" if expected is None else quoted(expected)
            found = "" if got is None else quoted(got)
            self.kept.append(Problem(file, what, line, found, wanted, advice))

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Problem]:
        return iter(self.kept)

    def as_json(self) -> list[dict[str, Any]]:
        """Return those that are told as plain data."""
        return [asdict(problem) for problem in self.kept]


def quoted(value: Any) -> str:
    """Return a stranger's value as it can be shown anywhere: no control characters, not endless."""
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
