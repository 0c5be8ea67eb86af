"""Panel: one split's part of the page, with what is derived from the board for looking at it and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from rolf.leaderboard.board import Board, Comparison, Entry, Estimate, SplitBoard
from rolf.leaderboard.page.episodes import Shown
from rolf.leaderboard.page.text import title

COLOURS = 8
"""Colours of contestants in page.css (``--ink-0`` …); more contestants have them again, with other dashes."""
GREYS = 3
"""Colours of references (``--grey-0`` …)."""
DASHES = ("", "7 3", "2 3", "9 3 2 3")
SYMBOLS = ("circle", "square", "triangle", "diamond", "star", "wye")
NAME = 32
"""Longest name in charts and tables [characters]."""
SHADES = 3
"""Shades of either colour of the table of pairs."""


@dataclass(frozen=True, slots=True)
class Ink:
    """How a policy is drawn, the same everywhere on the page."""

    colour: str
    """A property of page.css."""
    dash: str
    symbol: str


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of the table of pairs: the policy of its row, less that of its column."""

    difference: Estimate
    success: Estimate
    improvement: Estimate
    detectable: float | None
    tied: bool
    shade: int
    """From -SHADES to SHADES: how the difference compares with the largest; 0: tied."""


@dataclass(frozen=True)
class Panel:
    """All about one split."""

    number: int
    board: SplitBoard
    names: Mapping[str, str]
    """Submission -> what it is called on the page."""
    inks: Mapping[str, Ink]
    """Submission -> how it is drawn."""
    episodes: Sequence[Shown]

    @property
    def contestants(self) -> tuple[Entry, ...]:
        """Those that have a place."""
        return tuple(entry for entry in self.board.entries if entry.rank is not None)

    @property
    def references(self) -> tuple[Entry, ...]:
        """Those that are told the truth."""
        return tuple(entry for entry in self.board.entries if entry.rank is None)

    @cached_property
    def span(self) -> tuple[float, float]:
        """Where the axis of scores begins and ends: 0 and 1, unless somebody is beyond."""
        estimates = [entry.score for entry in self.board.entries]
        lows = [each.value if each.low is None else each.low for each in estimates]
        highs = [each.value if each.high is None else each.high for each in estimates]
        return min(0.0, *lows), max(1.0, *highs)

    def place(self, value: float) -> float:
        """Return where a score lies on the axis, from 0 to 100."""
        low, high = self.span
        return round((value - low) / (high - low) * 100, 2)

    @cached_property
    def pairs(self) -> dict[tuple[str, str], Cell]:
        """Return the table of pairs; what compares B with A was computed as A with B."""
        largest = max((abs(each.difference.value) for each in self.board.comparisons), default=0.0)
        cells = {}
        for each in self.board.comparisons:
            cells[each.first, each.second] = _cell(each, largest, 1)
            cells[each.second, each.first] = _cell(each, largest, -1)
        return cells

    @property
    def sections(self) -> Iterator[tuple[str, str]]:
        """Yield the anchors and titles of what there is to show."""
        entries = self.board.entries
        yield "ranking", "Ranking"
        yield "profiles", "Score profiles"
        if self.board.attempts > 1:
            yield "attempts", "Several attempts"
        for anchor, heading, there in (
            ("families", "Families", any(entry.families for entry in entries)),
            ("intensity", "Intensity", any(entry.levels for entry in entries)),
            ("adaptivity", "Adaptivity", any(entry.adaptivity for entry in entries)),
            ("failures", "Failures", any(entry.attribution for entry in entries)),
            ("styles", "Interface styles", any(entry.styles for entry in entries)),
            ("pairs", "Pairs", bool(self.board.comparisons)),
            ("episodes", "Episodes", bool(self.episodes)),
        ):
            if there:
                yield anchor, heading


def _cell(comparison: Comparison, largest: float, sign: int) -> Cell:
    share = comparison.difference.value / largest if largest else 0.0
    # Away from zero: the smallest difference that is none by chance has a shade of its own.
    shade = 0 if comparison.tied else sign * (1 if share > 0 else -1) * max(1, round(abs(share) * SHADES))
    return Cell(
        _turned(comparison.difference, sign, 0.0),
        _turned(comparison.success, sign, 0.0),
        _turned(comparison.improvement, sign, 1.0),
        comparison.detectable,
        comparison.tied,
        shade,
    )


def _turned(estimate: Estimate, sign: int, whole: float) -> Estimate:
    """Return what holds of the second against the first; differences turn their sign, probabilities add up to 1."""
    if sign > 0:
        return estimate
    low, high = estimate.low, estimate.high
    return Estimate(
        whole - estimate.value, None if high is None else whole - high, None if low is None else whole - low
    )


def panels(board: Board, shown: Sequence[Shown]) -> list[Panel]:
    """Return the parts of the page."""
    inks = _inks(board)
    return [
        Panel(
            number,
            split,
            dict(_names(split.entries)),
            {entry.name: inks[_policy(entry), entry.rank is None] for entry in split.entries},
            [each for each in shown if each.split == number],
        )
        for number, split in enumerate(board.splits)
    ]


def _policy(entry: Entry) -> str:
    return str(entry.policy.get("name", "")) or entry.name


def _names(entries: Iterable[Entry]) -> Iterator[tuple[str, str]]:
    """Yield what submissions are called: by their policy, and by their folder where that does not tell them apart."""
    called = [title(_policy(entry), NAME) for entry in entries]
    for entry, name in zip(entries, called, strict=True):
        yield entry.name, name if called.count(name) == 1 else title(f"{name} ({entry.name})", NAME * 2)


def _inks(board: Board) -> dict[tuple[str, bool], Ink]:
    """Return how each policy is drawn: by its place among all, so that it looks the same in every split."""
    inks: dict[tuple[str, bool], Ink] = {}
    for reference, colours, kind in ((False, COLOURS, "ink"), (True, GREYS, "grey")):
        policies = dict.fromkeys(
            _policy(entry) for split in board.splits for entry in split.entries if (entry.rank is None) is reference
        )
        for number, policy in enumerate(policies):
            dash = DASHES[(number // colours + reference) % len(DASHES)]
            inks[policy, reference] = Ink(f"--{kind}-{number % colours}", dash, SYMBOLS[number % len(SYMBOLS)])
    return inks
