"""Validation: is a submission what its split asks for, and does every number follow from its trajectories?

All that is wrong is collected, not only the first thing. Nothing of a submission is executed but its recorded actions,
in environments that the split names.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rolf.leaderboard import claims, intake, rows
from rolf.leaderboard.contest import Contest, Contests, Find
from rolf.leaderboard.evidence import Evidence, Numbered, episodes, unused
from rolf.leaderboard.problem import Problems
from rolf.leaderboard.rerun import Rerun, chosen, rerun
from rolf.leaderboard.submission import Lock, Row, Submission, document
from rolf.variant import digest

RERUN = 5
"""Episodes that are played again unless told otherwise."""
FILES = 50_000
"""Most files that a submission may have."""
BYTES = 8 << 30
"""Most that its files may have together [bytes]."""


OWN = "a split of your own is known here when its file is given: `--split-file FILE`"

DEPTH = 3
"""Folders in folders that are searched for submissions: a board may keep each split in one of its own."""


@dataclass(frozen=True, slots=True)
class Validation:
    """What looking at a submission came to."""

    folder: Path
    problems: Problems
    digest: str
    """SHA-256 of all its files, name by name: what a badge is bound to; empty where it could not be read."""
    submission: Submission | None = None
    """None: it could not be read."""
    contest: Contest | None = None
    """None: its split is not known here."""
    rows: tuple[Row, ...] = ()
    again: int = 0
    """Episodes that were played again and came to the same."""
    notes: tuple[str, ...] = ()
    """Where something differed that may (``rolf.leaderboard.leeway``)."""

    @property
    def valid(self) -> bool:
        """Whether nothing is wrong with it."""
        return not self.problems


def is_submission(folder: Path) -> bool:
    """Return whether a folder looks like a submission."""
    return any((folder / name).is_file() for name in intake.FILES)


def submissions(path: Path) -> list[Path]:
    """Return the submission that lies there, or those in its folders and theirs, by name; links are not followed.

    Raises:
        ValueError: there is none.
    """
    found = list(_submissions(path, DEPTH))
    if not found:
        wrong = f"{str(path)!r} is no submission, and no folder of submissions"
        sought = f"neither it nor a folder in it, down to {DEPTH} deep, holds any of {', '.join(intake.FILES)}"
        raise ValueError(f"{wrong}: {sought}; give what `rolf eval --out` wrote")
    return found


def _submissions(path: Path, depth: int) -> Iterator[Path]:
    if is_submission(path):
        yield path
    elif depth:
        for each in sorted(path.iterdir()):
            if each.is_dir() and not each.is_symlink() and not each.name.startswith("."):
                yield from _submissions(each, depth - 1)


def validate(
    folder: Path, *, count: int | None = RERUN, seed: int | None = None, find: Find | None = None
) -> Validation:
    """Look at a submission.

    Args:
        folder: The submission.
        count: Episodes to play again; None: all.
        seed: Of their choice; None: one that nobody could know.
        find: What finds a split by its name; None: among those that installed environments offer.
    """
    problems = Problems()
    files = intake.inventory(folder, FILES, problems)
    if sum(files.values()) > BYTES:
        problems.add(".", "its files are too large", got=sum(files.values()), expected=f"at most {BYTES} bytes")
        return Validation(folder, problems, "")
    whole = content_digest(folder, files)
    submission = lock = None
    if claims.SUBMISSION in files:
        submission = document(folder, claims.SUBMISSION, Submission, problems)
    if claims.LOCK in files:
        lock = document(folder, claims.LOCK, Lock, problems)
    if submission is None:
        return Validation(folder, problems, whole)
    try:
        found = (find or Contests())(submission.split)
    except (LookupError, ValueError) as error:
        problems.add(claims.SUBMISSION, str(error), advice=OWN)
        return Validation(folder, problems, whole, submission)
    claims.contest(submission, lock, found.split, problems)
    claims.policy(submission, found, problems)
    if claims.LOCK in files:
        claims.lock_digest(folder, submission, problems)
    if submission.split_digest != found.split.digest or rows.FILE not in files:
        return Validation(folder, problems, whole, submission, found)
    look = _Look(folder, submission, lock, found, problems)
    again = look.at(files, count, int.from_bytes(os.urandom(8), "big") if seed is None else seed)
    rows_read = tuple(row for _, row in look.rows)
    return Validation(folder, problems, whole, submission, found, rows_read, again.same, again.notes)


def content_digest(folder: Path, files: Mapping[str, int]) -> str:
    """Return the digest of files that `inventory` found."""
    return digest({name: intake.sha256(folder, name) for name in files})


class _Look:
    """What is looked at once the split is known: rows, and their trajectories."""

    def __init__(
        self, folder: Path, submission: Submission, lock: Lock | None, found: Contest, problems: Problems
    ) -> None:
        self._folder = folder
        self._submission = submission
        self._packages = lock.packages if lock is not None else {}
        self._attempts = claims.played(submission, lock, found.split)
        self._attributed = lock is not None and lock.attributed
        self._found = found
        self._problems = problems
        self.rows: list[Numbered] = []

    def at(self, files: Mapping[str, int], count: int | None, seed: int) -> Rerun:
        """Look at everything; return what came of playing episodes again, which what is refused already is spared."""
        split, problems = self._found.split, self._problems
        attempts, before = self._attempts, len(problems)
        self.rows = rows.read(self._folder, attempts * len(split) + 1, problems)
        read = [row for _, row in self.rows]
        if len(problems) == before:  # what is said of all rows can be computed from all rows alone
            claims.results(self._submission, read, problems)
        rows.check(self.rows, split, attempts, problems)
        claims.faults(read, problems)
        claims.attribution(read, self._attributed, problems)
        known = [each for each in self.rows if _has_place(each[1], len(split))]
        unused(known, files, problems)
        there = [each for each in known if f"{intake.FOLDER}/{each[1].trajectory.partition('#')[0]}" in files]
        deterministic = self._submission.policy.deterministic
        evidence = Evidence(self._found, self._packages, deterministic, problems)
        for numbered, recorded in episodes(self._folder, there, problems, whole=True):
            evidence.examine(numbered, recorded)
        if problems:  # it is refused already, and playing takes long
            return Rerun(0, ())
        picked = evidence.good if count is None else chosen(evidence, count, seed)
        return rerun(self._folder, self._found, picked, problems)


def _has_place(row: Row, variants: int) -> bool:
    return row.index < variants and not rows.lost(row) and rows.TRAJECTORY.fullmatch(row.trajectory) is not None
