"""Ranking: submissions to the same split, in order, with what is known of each and of every two.

Ranked is by the mean score. The mean of the middle half (IQM) stands beside it: where scores are 0 or 1 it tells
nothing of policies that succeed more than three times out of four. Whose paired differences may as well be zero, by
the interval or by the test, share places; the test's p-values hold for all contestants at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from rolf.evaluation.episode import Episode
from rolf.leaderboard.board import Board, Comparison, Entry, Refused, SplitBoard, Verified
from rolf.leaderboard.figures import Figures, compare, together
from rolf.leaderboard.intake import NAME
from rolf.leaderboard.problem import quoted
from rolf.leaderboard.samples import samples
from rolf.leaderboard.submission import Submission
from rolf.leaderboard.validation import Validation
from rolf.variant import Split


@dataclass(frozen=True, slots=True)
class Contender:
    """A valid submission, with its figures."""

    name: str
    digest: str
    submission: Submission
    split: Split
    episodes: Sequence[Episode]
    figures: Figures

    @property
    def privileged(self) -> bool:
        """Whether it is told the truth."""
        return self.submission.policy.privileged


def contender(looked: Validation, name: str) -> Contender:
    """Return a valid submission with its figures."""
    assert looked.submission is not None
    assert looked.contest is not None
    episodes = [row.episode() for row in looked.rows]
    split = looked.contest.split
    figures = Figures(episodes, split, looked.submission.attempts, looked.contest.bounds)
    return Contender(name, looked.digest, looked.submission, split, episodes, figures)


def ranked(
    folder: Path, looked: Sequence[Validation], badges: Mapping[str, Verified], only: str | None = None
) -> Board:
    """Return the board of a folder.

    Args:
        folder: Of the board; submissions are named relative to it.
        looked: What its submissions came to.
        badges: By the digest of the submission that was verified.
        only: The split to rank; None: all.
    """
    valid: dict[str, list[Contender]] = {}
    refused = []
    for each in looked:
        name = each.folder.relative_to(folder).as_posix()
        if not all(map(NAME.fullmatch, name.split("/"))):
            refused.append(Refused(quoted(name), (f"no submission is called so; allowed is {NAME.pattern}",)))
        elif each.valid and each.contest is not None:
            if only in (None, each.contest.split.name):
                valid.setdefault(each.contest.split.name, []).append(contender(each, name))
        else:
            more = each.problems.count - len(each.problems.kept)
            told = [str(problem) for problem in each.problems]
            refused.append(Refused(name, tuple(told + ([f"and {more} more problems"] if more else []))))
    return Board(tuple(_split_board(valid[name], badges) for name in sorted(valid)), tuple(refused))


def _split_board(contenders: Sequence[Contender], badges: Mapping[str, Verified]) -> SplitBoard:
    split = contenders[0].split
    clusters = [label.cluster for label in split.labels]
    ordered = sorted(contenders, key=lambda each: (each.privileged, -each.figures.score().value, each.name))
    compared = _compared(ordered, clusters)
    ranks = places([each.name for each in ordered if not each.privileged], compared)
    entries = []
    for each in ordered:
        leader = None if each.privileged else compared.get((ordered[0].name, each.name))
        entries.append(_entry(each, ranks.get(each.name), leader, badges.get(each.digest)))
    return SplitBoard(
        split=split.name,
        digest=split.digest,
        variants=len(split),
        clusters=len(set(clusters)),
        attempts=split.attempts,
        limits=dict(split.limits),
        entries=tuple(entries),
        comparisons=tuple(compared.values()),
    )


def _compared(ordered: Sequence[Contender], clusters: Sequence[str]) -> dict[tuple[str, str], Comparison]:
    """Return the comparison of every two, the higher one first.

    Contestants are one lot of tests: a reference on the board must not cost anybody a place. Those with a reference
    are another.
    """
    every = list(combinations(ordered, 2))
    found: dict[tuple[str, str], Comparison] = {}
    for apart in (False, True):
        lot = [(one, two) for one, two in every if (one.privileged or two.privileged) is apart]
        raw = [compare((one.name, one.figures), (two.name, two.figures), clusters) for one, two in lot]
        found |= {(each.first, each.second): each for each in together(raw)}
    return {(one.name, two.name): found[one.name, two.name] for one, two in every}


def places(names: Sequence[str], compared: Mapping[tuple[str, str], Comparison]) -> dict[str, tuple[int, int]]:
    """Return the first and the last place that each may have.

    Args:
        names: From the highest score to the lowest.
        compared: Of every two of them, the higher one first.
    """
    found = {}
    for at, name in enumerate(names):
        above = sum(not compared[other, name].tied for other in names[:at])
        below = sum(not compared[name, other].tied for other in names[at + 1 :])
        found[name] = 1 + above, len(names) - below
    return found


def _entry(each: Contender, rank: tuple[int, int] | None, leader: Comparison | None, badge: Verified | None) -> Entry:
    figures = each.figures
    robustness, levels = figures.robustness()
    return Entry(
        name=each.name,
        digest=each.digest,
        policy=each.submission.policy.model_dump(),
        rank=rank,
        verified=badge,
        episodes=len(each.episodes),
        attempts=each.submission.attempts,
        faults=sum(bool(episode.fault) for episode in each.episodes),
        malformed=sum(one.malformed for one in each.episodes) / max(1, sum(one.steps for one in each.episodes)),
        seconds=sum(episode.seconds for episode in each.episodes),
        score=figures.score(),
        iqm=figures.iqm(),
        gap=figures.gap(),
        success=figures.success(),
        episode_return=figures.episode_return(),
        chances=figures.chances(),
        profile=figures.profile(),
        robustness=robustness,
        leader=leader,
        families=figures.families(),
        levels=levels,
        adaptivity=figures.adaptivity(),
        styles=figures.styles(),
        attribution=figures.attribution(),
        samples=samples(each.episodes, each.split.labels, each.digest),
    )
