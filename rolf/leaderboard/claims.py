"""Claims: what submission.json and lock.json say, against the split, the rows and the policies that everybody has."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rolf.evaluation.rows import FAULTS_ALLOWED, results_digest, summary, valid
from rolf.leaderboard import intake
from rolf.leaderboard.contest import Contest
from rolf.leaderboard.problem import Problems
from rolf.leaderboard.rows import FILE as RESULTS
from rolf.leaderboard.submission import Lock, Row, Submission
from rolf.variant import Split

SUBMISSION, LOCK = "submission.json", "lock.json"
AS_WRITTEN = "hand in the file that `rolf eval` wrote"
WHY = {
    "split_digest": "its variants, limits or content are others; evaluate with the version that is installed here",
    "attempts": "a policy that is declared deterministic may hand in 1 where all attempts meet the same world, every "
    "other one hands in all: "
    "evaluate without `--attempts` into a new folder",
    "limits": "other limits are another benchmark; evaluate with those of the split",
    "env_ids": AS_WRITTEN,
}


def attempts(submission: Submission, split: Split) -> int:
    """Return how many attempts at each variant there must be."""
    alone = split.pinned and submission.policy.deterministic and submission.attempts == 1
    return 1 if alone else split.attempts


def played(submission: Submission, lock: Lock | None, split: Split) -> int:
    """Return how many attempts at each variant there must be rows of.

    Those of an evaluation with fewer attempts are not missing: it is refused for them already.
    """
    fewer = lock is not None and lock.attempts == submission.attempts < split.attempts
    return submission.attempts if fewer else attempts(submission, split)


def contest(submission: Submission, lock: Lock | None, split: Split, problems: Problems) -> None:
    """Compare what was evaluated on with what is installed here."""
    wanted: dict[str, Any] = {
        "split_digest": split.digest,
        "attempts": attempts(submission, split),
        "limits": dict(split.limits),
        "env_ids": sorted({variant.env_id for variant in split.variants}),
    }
    told = {SUBMISSION: submission.model_dump(), LOCK: lock.model_dump() if lock is not None else {}}
    for key, value in wanted.items():
        wrong = {file: values[key] for file, values in told.items() if key in values and values[key] != value}
        if LOCK in wrong and wrong.get(SUBMISSION) == wrong[LOCK]:
            del wrong[LOCK]  # one evaluation, one cause
        for file, got in wrong.items():
            what = f"{key!r} is not that of {split.name}"
            problems.add(file, what, got=got, expected=repr(value), advice=WHY[key])


def lock_digest(folder: Path, submission: Submission, problems: Problems) -> None:
    """Compare lock.json with the digest of it."""
    found = intake.sha256(folder, LOCK)
    if submission.lock_sha256 != found:
        problems.add(
            SUBMISSION,
            "'lock_sha256' is not that of lock.json",
            got=submission.lock_sha256,
            expected=repr(found),
            advice="lock.json was changed after the evaluation; hand in the one that `rolf eval` wrote",
        )


def policy(submission: Submission, found: Contest, problems: Problems) -> None:
    """Check what is said of a policy that comes with the environment, and that no other takes its name."""
    said = submission.policy
    for entry in found.policies.values():
        if said.spec in (entry.spec, entry.name):
            for key in ("privileged", "deterministic"):
                if getattr(said, key) != getattr(entry, key):
                    problems.add(
                        SUBMISSION,
                        f"the policy {entry.name!r} comes with the environment, and is declared otherwise: {key!r}",
                        got=getattr(said, key),
                        expected=repr(getattr(entry, key)),
                        advice=AS_WRITTEN,
                    )
        elif said.name == entry.name:
            problems.add(
                SUBMISSION,
                f"{entry.name!r} is the name of a policy that comes with the environment",
                got=said.spec,
                expected=repr(entry.spec),
                advice="give your policy a name of its own",
            )


def results(submission: Submission, read: Sequence[Row], problems: Problems) -> None:
    """Compute what submission.json says of all rows together."""
    episodes = [row.episode() for row in read]
    digest = results_digest(episodes)
    if submission.results_sha256 != digest:
        problems.add(
            SUBMISSION,
            "'results_sha256' is not that of results.jsonl",
            got=submission.results_sha256,
            expected=repr(digest),
            advice="a row was changed after the evaluation; hand in both files as `rolf eval` wrote them",
        )
    told = submission.summary.model_dump()
    for key, value in summary(episodes).items():
        if told[key] != value:
            what = f"'summary.{key}' is not what results.jsonl gives"
            problems.add(SUBMISSION, what, got=told[key], expected=repr(value), advice=AS_WRITTEN)


def faults(read: Sequence[Row], problems: Problems) -> None:
    """Check that the machine did not fail too often."""
    count = sum(bool(row.fault) for row in read)
    if not valid(count, len(read)):
        problems.add(
            RESULTS,
            "the machine failed in too many episodes",
            got=count,
            expected=f"at most {FAULTS_ALLOWED:.0%} of {len(read)}",
            advice="mend the machine (`rolf doctor`) and evaluate again",
        )


def attribution(read: Sequence[Row], asked: bool, problems: Problems) -> None:
    """Check that what failures come from is told of failures alone, and only where it was asked for."""
    for row in read:
        if row.attribution and (row.success is not False or not asked):
            problems.add(
                RESULTS,
                f"variant {row.index}, attempt {row.attempt} has an 'attribution'",
                got=row.attribution,
                expected="none: it did not fail" if asked else "none: lock.json says that nobody asked",
                advice=AS_WRITTEN,
            )
