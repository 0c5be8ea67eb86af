"""Rerun: take the recorded actions again in an environment made from the split, and compare what comes of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rolf.evaluation.recording import Recorded, located
from rolf.leaderboard import intake
from rolf.leaderboard.contest import Contest
from rolf.leaderboard.evidence import Evidence, Numbered, episodes
from rolf.leaderboard.leeway import Repetition, repeated
from rolf.leaderboard.problem import Problems
from rolf.leaderboard.submission import Row

REFUSALS = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)
"""What environments raise at an action that is none."""
MACHINE = (OSError, RuntimeError)
"""What they raise where this machine fails."""
PACKAGES = "if it was played with other packages than are installed here, install those"


def chosen(evidence: Evidence, count: int, seed: int) -> list[Numbered]:
    """Return the episodes to do again: some at random, and some of those that look like copies of others.

    Args:
        evidence: All episodes that are otherwise good.
        count: How many at random; of those that resemble another in every action and reward up to twice as many.
        seed: Of the choice; one that the submitter could not know.
    """
    draw = random.Random(seed)
    picked = draw.sample(evidence.good, min(count, len(evidence.good)))
    alike = [group for group in evidence.twins.values() if len(group) > 1]
    for group in draw.sample(alike, min(count, len(alike))):
        picked += draw.sample(group, 2)  # the original too: which it is cannot be told
    return sorted({numbered[0]: numbered for numbered in picked}.values())


@dataclass(frozen=True, slots=True)
class Rerun:
    """What came of playing episodes again."""

    same: int
    """How many came to the same."""
    notes: tuple[str, ...]
    """Where something differed that may."""


def rerun(folder: Path, found: Contest, rows: Sequence[Numbered], problems: Problems) -> Rerun:
    """Play good episodes again, and note what speaks against them."""
    same, notes = 0, []
    for (_, row), recorded in episodes(folder, rows, problems):
        name = f"{intake.FOLDER}/{row.trajectory.partition('#')[0]}"
        what = f"played again, variant {row.index}, attempt {row.attempt}"
        advice, line = "hand in what was played, and all of it", None
        try:
            repetition = repeated(found.split.variants[row.index], recorded, located(row.trajectory)[1] or 1)
        except REFUSALS as error:
            said = f"its actions cannot be taken: {type(error).__name__}: {error!s:.300}"
        except MACHINE as error:
            said, advice = f"this machine cannot play it: {error!s:.300}", "validate it again, or elsewhere"
        else:
            said = _against(row, recorded, repetition, found)
            if repetition.wrong is not None:
                line, advice = repetition.wrong.line, PACKAGES
            if not said:
                same += 1
                notes += [f"{name}: {what}: {place}" for place in repetition.passed[:1]]
                continue
        problems.add(name, f"{what}: {said}", line=line, advice=advice)
    return Rerun(same, tuple(notes))


def _against(row: Row, recorded: Recorded, repetition: Repetition, found: Contest) -> str:
    """Return what speaks against an episode; empty: nothing."""
    if repetition.wrong is not None:
        return str(repetition.wrong)
    told = any(place.field in ("state_digest", "info.state_digest") for place in repetition.passed)
    if repetition.state_digest != recorded.state_digest and not told:
        return f"the state left behind differs: recorded {recorded.state_digest!r}, got {repetition.state_digest!r}"
    ending = replace(recorded.ending, info=repetition.info) if recorded.actions else recorded.ending
    measured = found.measure(found.split.variants[row.index], ending)
    if (measured.success, measured.score, measured.fault) != (row.success, row.score, ""):
        return (
            f"it comes to success {measured.success}, score {measured.score}, fault {measured.fault!r}; "
            f"recorded are {row.success} and {row.score}"
        )
    return ""
