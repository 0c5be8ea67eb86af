"""Malformed: steps whose answer was no valid call, which says of a policy that it is not understood, not weak."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rolf.evaluation.episode import Episode
from rolf.evaluation.recording import Recorded

EVENT = "MALFORMED"
"""What ``info["event"]`` says of a step that could not be read, where an environment names events."""
ACCOUNTS = ("interface", "call")
"""Entries of ``info`` in which a wrapper tells how it read an answer (``rolf_wrappers``)."""


@dataclass(frozen=True, slots=True)
class Misread:
    """How much of what a policy answered was no valid call."""

    steps: int
    """Steps whose answer was none."""
    of: int
    """Steps in all."""
    episodes: int
    """Those without a single valid call."""
    worst: Episode | None
    """The first of those that lost the greatest share of their steps; None: none lost any."""

    @property
    def most(self) -> bool:
        """Whether more than half of the steps were lost, so that results say little of how good the policy is."""
        return self.steps > self.of / 2


def misread(episodes: Sequence[Episode]) -> Misread:
    """Return how much of some episodes was no valid call."""
    some = [each for each in episodes if each.malformed]
    mute = sum(each.malformed == each.steps for each in some)
    worst = max(some, key=lambda each: each.malformed / each.steps, default=None)
    return Misread(sum(each.malformed for each in some), sum(each.steps for each in episodes), mute, worst)


def malformed_steps(recorded: Recorded) -> int:
    """Return how many steps of an episode held no valid call; 0 where an episode was played in a block."""
    infos = (line.content.get("info") for line in recorded.steps or () if line.kind == "step")
    return sum(isinstance(info, dict) and is_malformed(info) for info in infos)


def is_malformed(info: Mapping[str, Any]) -> bool:
    """Return whether a step's ``info`` says that its answer was no valid call."""
    told = [info.get(name) for name in ACCOUNTS]
    return info.get("event") == EVENT or any(isinstance(each, dict) and each.get("malformed") for each in told)
