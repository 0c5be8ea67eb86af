"""Dropped: episodes that nothing is learned from, because they could not be played, and how many are too many.

Where several processes learn together it is the episodes of all that are counted, and all come to the same decision.
"""

from __future__ import annotations

from typing import NamedTuple

from rolf_adapters.ppo import parallel
from rolf_adapters.ppo.language.collector import Collected
from rolf_adapters.ppo.language.settings import Rollout
from rolf_adapters.ppo.learner import Halted

FEW = 3
"""Episodes of an evaluation that machines may lose, whatever their share: one of four is a quarter, and no calamity."""
TOO_LONG = 0.5
"""Share of episodes that may begin with too long a prompt; beyond it most of what was asked for is not learned."""


class TooManyFaults(Halted):
    """More episodes were lost to failing machines than is allowed: what is left is no fair sample."""


class WindowTooSmall(Halted):
    """Too many episodes begin with more than the model may read."""

    resumes = False


class Dropped(NamedTuple):
    """How many episodes of all processes could not be played."""

    episodes: int
    """That were to be played."""
    faults: int
    """Whose machines failed."""
    reason: str
    """How one of them did; empty: none failed."""
    too_long: int
    """Whose first prompt had no room in the window."""
    longest: int
    """The longest of those [tokens]."""


def counted(collected: Collected) -> Dropped:
    """Return what was dropped in all processes; each of them calls it, and is told the same.

    Args:
        collected: Of this process.
    """
    faults, lengths = collected.faults, collected.too_long
    mine = [len(collected.episodes), len(faults), "".join(faults[-1:]), len(lengths), max(lengths, default=0)]
    episodes, failed, reasons, long, longest = zip(*parallel.gathered(mine), strict=True)
    return Dropped(sum(episodes), sum(failed), next(filter(None, reasons), ""), sum(long), max(longest))


def check(collected: Collected, rollout: Rollout, *, few: int = 0) -> None:
    """See that enough episodes are left, in all processes together; each of them calls it.

    Args:
        collected: Of this process.
        rollout: How many may be lost, and how long a context may be.
        few: How many machines may fail, whatever their share.

    Raises:
        TooManyFaults: too many machines failed.
        WindowTooSmall: too many episodes begin with too long a prompt.
    """
    all_ = counted(collected)
    left = all_.episodes - all_.faults - all_.too_long
    if all_.too_long > TOO_LONG * all_.episodes:
        raise WindowTooSmall(
            f"{all_.too_long} of {all_.episodes} episodes begin with a prompt that has no room in "
            f"rollout.window={rollout.window} beside an answer of {rollout.tokens} tokens (the longest has "
            f"{all_.longest}); what a training learns follows from its window, so begin anew with a larger one, in "
            "another --out, or with shorter messages (rollout.speech.message)"
        )
    if all_.episodes and (all_.faults > max(rollout.faults * all_.episodes, few) or not left):
        raise TooManyFaults(
            f"{all_.faults} of {all_.episodes} episodes were lost because machines failed, "
            + (f"more than rollout.faults={rollout.faults} allows" if left else "and none is left")
            + f"; one of them: {all_.reason}"
        )
