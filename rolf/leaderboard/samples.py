"""Samples: the episodes of a submission that a reader can look at, chosen by nobody."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import islice, zip_longest

from rolf.evaluation.episode import Episode
from rolf.leaderboard.board import Sample
from rolf.variant import Labels

MOST = 12
"""Successes, and failures, of one submission."""


def samples(episodes: Sequence[Episode], labels: Sequence[Labels], salt: str) -> tuple[Sample, ...]:
    """Return failures and successes by turns, one of each family after the other, in an order that a digest gives.

    Args:
        episodes: Of one submission.
        labels: Of the split's variants.
        salt: The submission's digest; so that nobody can arrange to be seen at his best.
    """
    dealt = [_dealt(episodes, labels, salt, success=success) for success in (False, True)]
    return tuple(_sample(each, labels[each.index]) for pair in zip_longest(*dealt) for each in pair if each is not None)


def _dealt(episodes: Sequence[Episode], labels: Sequence[Labels], salt: str, *, success: bool) -> list[Episode]:
    """Return episodes that ended so, dealt from the families in turn."""
    families: dict[str, list[Episode]] = {}
    alike = [each for each in episodes if each.success is success and each.trajectory]
    for each in sorted(alike, key=lambda each: _order(each, salt)):
        families.setdefault(labels[each.index].family, []).append(each)
    turns = zip_longest(*(families[name] for name in sorted(families)))
    return list(islice((each for turn in turns for each in turn if each is not None), MOST))


def _order(episode: Episode, salt: str) -> bytes:
    return hashlib.sha256(f"{salt}/{episode.trajectory_digest}".encode()).digest()


def _sample(episode: Episode, label: Labels) -> Sample:
    assert episode.success is not None
    assert episode.score is not None
    return Sample(
        trajectory=episode.trajectory,
        index=episode.index,
        variant=episode.variant,
        attempt=episode.attempt,
        family=label.family,
        level=label.level,
        style=label.style,
        success=episode.success,
        score=episode.score,
        episode_return=episode.episode_return,
        steps=episode.steps,
    )
