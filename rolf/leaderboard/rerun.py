"""Rerun: take the recorded actions again in an environment made from the split, and compare what comes of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from rolf.evaluation.recording import Recorded, located
from rolf.leaderboard import intake
from rolf.leaderboard.evidence import Evidence, Numbered, episodes
from rolf.leaderboard.problem import Problems
from rolf.replay import as_trajectory, compare, final_state
from rolf.trajectory import Trajectory
from rolf.variant import Split, Variant

REFUSALS = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)
"""What environments raise at an action that is none."""
MACHINE = (OSError, RuntimeError)
"""What they raise where this machine fails."""


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


def rerun(folder: Path, split: Split, rows: Sequence[Numbered], problems: Problems) -> int:
    """Do episodes again; return how many came out the same."""
    same = 0
    for (_, row), recorded in episodes(folder, rows, problems):
        name = f"{intake.FOLDER}/{row.trajectory.partition('#')[0]}"
        try:
            found = again(split.variants[row.index], recorded, row.trajectory)
        except REFUSALS as error:
            found = f"its actions cannot be taken: {type(error).__name__}: {error!s:.300}", None, ""
        except MACHINE as error:
            found = f"this machine cannot play it again: {error!s:.300}", None, "validate it again, or elsewhere"
        if found is None:
            same += 1
            continue
        said, line, advice = found
        what = f"played again, variant {row.index}, attempt {row.attempt}: {said}"
        problems.add(name, what, line=line, advice=advice or "hand in what was played, and all of it")
    return same


def again(variant: Variant, recorded: Recorded, trajectory: str) -> tuple[str, int | None, str] | None:
    """Play a recorded episode in its variant's environment; return what differs, at which line, and advice, or None.

    Nothing of the recording's header is used: the environment, its arguments and wrappers are those of the variant.
    """
    env = variant.make()
    try:
        recipe = as_trajectory(recorded, located(trajectory)[1] or 1)
        header = {"env_id": variant.env_id, "volatile": list(env.metadata.get("volatile", ()))}
        report = compare(env, Trajectory(header | {"format": recipe.header["format"]}, recipe.lines, None), trajectory)
        if report.divergence is not None:
            found = report.divergence
            where = f"step {found.step}: {found.field} differs: recorded {found.recorded}, got {found.got}"
            return where, found.line, "if it was played with other packages than are installed here, install those"
        left = str(final_state(env, recorded.ending.info).get("state_digest", ""))
        if left != recorded.state_digest:
            return f"the state left behind differs: recorded {recorded.state_digest!r:.80}, got {left!r}", None, ""
        return None
    finally:
        env.close()
