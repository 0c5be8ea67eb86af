"""Rows: results.jsonl against its split: every attempt at every variant, once, seeded as the split says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from rolf.leaderboard import intake
from rolf.leaderboard.problem import Problems
from rolf.leaderboard.submission import Row, modelled
from rolf.variant import Split, names

FILE = "results.jsonl"
TRAJECTORY = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]{0,99}\.jsonl\.gz)(?:#([1-9][0-9]{0,8}))?")
"""File in `trajectories`, and line where it holds several."""
TOLD = 5
"""Missing rows that are named."""


def read(folder: Path, most: int, problems: Problems) -> list[tuple[int, Row]]:
    """Return the rows of results.jsonl with their lines; what is no row is among the problems."""
    found = []
    try:
        for number, raw in intake.lines(folder, FILE, most=most):
            try:
                content = intake.strict(raw)
            except intake.Refused as error:
                problems.add(FILE, str(error), line=number, advice="hand in the file that `rolf eval` wrote")
                continue
            row = modelled(content, FILE, number, Row, problems)
            if row is not None:
                found.append((number, row))
    except (intake.Refused, OSError) as error:
        problems.add(FILE, str(error), advice="hand in the file that `rolf eval` wrote")
    return found


def check(rows: Sequence[tuple[int, Row]], split: Split, attempts: int, problems: Problems) -> None:
    """Compare rows with what the split asks for."""
    called, wanted = names(split.variants), set(_pairs(len(split), attempts))
    seen: dict[tuple[int, int], int] = {}
    sources: dict[str, int] = {}
    digests: dict[str, int] = {}
    before = (-1, -1)
    for line, row in rows:
        at = row.index, row.attempt
        if at not in wanted:
            problems.add(
                FILE,
                f"variant {row.index}, attempt {row.attempt} is no part of the split",
                line=line,
                expected=f"variants 0 to {len(split) - 1}, attempts 0 to {attempts - 1}",
                advice="remove the row",
            )
            continue
        if at in seen:
            problems.add(FILE, f"variant {at[0]}, attempt {at[1]} is there already in line {seen[at]}", line=line)
        elif at < before:
            problems.add(FILE, "it is not sorted by variant and attempt", line=line, got=at, expected=f"after {before}")
        seen.setdefault(at, line)
        before = max(before, at)
        _identity(line, row, split, called, problems)
        _fault(line, row, problems)
        if not lost(row):
            _place(line, row, problems)
            _own(line, row.trajectory, sources, "trajectory", problems)
            _own(line, row.trajectory_digest, digests, "trajectory_digest", problems)
    _missing(wanted - seen.keys(), len(wanted), problems)


def _pairs(variants: int, attempts: int) -> Iterator[tuple[int, int]]:
    return ((index, attempt) for index in range(variants) for attempt in range(attempts))


def _identity(line: int, row: Row, split: Split, called: Sequence[str], problems: Problems) -> None:
    if row.variant != called[row.index]:
        problems.add(FILE, "the variant has another name", line=line, got=row.variant, expected=repr(called[row.index]))
    seed = split.variants[row.index].attempt_seed(row.attempt)
    if row.seed != seed:
        problems.add(
            FILE,
            f"attempt {row.attempt} at this variant has another seed",
            line=line,
            got=row.seed,
            expected=seed,
            advice="only the attempts that the split names count; evaluate with `rolf eval`",
        )


def lost(row: Row) -> bool:
    """Return whether the machine failed so that there is no trajectory either."""
    return bool(row.fault) and not row.trajectory and not row.trajectory_digest and not (row.steps or row.malformed)


def _place(line: int, row: Row, problems: Problems) -> None:
    if not TRAJECTORY.fullmatch(row.trajectory) or not row.trajectory_digest:
        problems.add(
            FILE,
            "'trajectory' names no file in trajectories/, or has no digest",
            line=line,
            got=(row.trajectory, row.trajectory_digest),
            expected="NAME.jsonl.gz or NAME.jsonl.gz#LINE, and its SHA-256",
        )


def _own(line: int, value: str, seen: dict[str, int], field: str, problems: Problems) -> None:
    """Note where a value that every row has for itself is another row's too."""
    if value in seen:
        problems.add(
            FILE,
            f"{field!r} is that of line {seen[value]} too",
            line=line,
            got=value,
            advice="each attempt has a trajectory of its own; evaluate the missing one",
        )
    seen.setdefault(value, line)


def _fault(line: int, row: Row, problems: Problems) -> None:
    counts = row.success is not None and row.score is not None
    if counts == bool(row.fault) or (row.success is None) != (row.score is None):
        problems.add(
            FILE,
            f"with fault {row.fault!r:.60}, success and score",
            line=line,
            got=(row.success, row.score),
            expected="both null where the machine failed, neither where it did not",
        )


def _missing(missing: set[tuple[int, int]], wanted: int, problems: Problems) -> None:
    if missing:
        told = ", ".join(f"variant {index} attempt {attempt}" for index, attempt in islice(sorted(missing), TOLD))
        more = f" and {len(missing) - TOLD} more" if len(missing) > TOLD else ""
        problems.add(
            FILE,
            f"rows are missing: {told}{more}",
            got=wanted - len(missing),
            expected=f"{wanted} rows",
            advice="run the same `rolf eval` again; it plays what is missing",
        )
