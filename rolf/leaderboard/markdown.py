"""Markdown: a board as tables; what a terminal shows is made of the same cells."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rolf.leaderboard.board import Board, Comparison, Entry, Estimate, SplitBoard

SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~&$@-])")
"""What Markdown, or a dialect of it, takes for more than text."""
NONE = "–"
WIDTH = 100
"""Of a terminal that a board is shown in [characters]."""
SHORTEST = 8
"""What is left of a policy's name at least [characters]."""


def markdown(board: Board) -> str:
    """Return all splits of a board, and what was refused."""
    parts = ["# Leaderboard"]
    for split in board.splits:
        parts += [f"## {escaped(split.split)}", escaped(about(split))]
        parts += [f"**{escaped(split.caution)}**"] if split.caution else []
        parts.append(table(*standings(split)))
        if len(split.entries) > 1:
            parts += ["### Differences on the same variants", table(*pairs(split.comparisons))]
        for title, heads, rows in sections(split):
            parts += [f"### {title}", table(heads, rows)]
    if board.refused:
        parts.append("## Refused")
        for refused in board.refused:
            lines = "\n".join(f"  - {escaped(problem)}" for problem in refused.problems)
            parts.append(f"- {escaped(refused.name)}\n{lines}")
    return "\n\n".join(parts) + "\n"


def about(split: SplitBoard) -> str:
    """Return in a sentence what was played and how to read the table."""
    limits = ", ".join(f"{name} {value}" for name, value in split.limits.items()) or "none"
    return (
        f"{split.variants} variants in {split.clusters} clusters, {split.attempts} attempts each; digest "
        f"{split.digest[:16]}; limits: {limits}. Ranked by the mean score. Intervals: 95 % for new variants of the "
        "same kind. Places are shared where the paired difference may be zero, by its interval or by a test for all "
        "pairs at once; references are told the truth and have none."
    )


def standings(split: SplitBoard) -> tuple[list[str], list[list[str]]]:
    """Return heads and rows of the table of a split."""
    graded = any(entry.robustness for entry in split.entries)
    several = max((chance.attempts for entry in split.entries for chance in entry.chances), default=1)
    heads = ["place", "policy", "score", "success", "IQM", "gap"]
    heads += [f"pass@{several}", f"pass^{several}"] if several > 1 else []
    heads += ["robustness", "worst"] if graded else []
    spoken = any(entry.malformed for entry in split.entries)
    heads += ["malformed"] if spoken else []
    heads += ["behind the first (detectable)", "episodes", "faults", "verified"]
    return heads, [_standing(entry, several, graded, spoken) for entry in split.entries]


def summary(split: SplitBoard) -> tuple[list[str], list[list[str]]]:
    """Return heads and rows of a table of a split that fits a terminal; long names of policies are cut."""
    heads = ["place", "policy", "score", "success", "behind the first"]
    rows = []
    for entry in split.entries:
        behind = NONE if entry.leader is None else shown(entry.leader.difference)
        rows.append([place(entry), entry.policy["name"], shown(entry.score), shown(entry.success), behind])
    others = sum(2 + max(len(row[at]) for row in (heads, *rows)) for at in range(len(heads)) if at != 1)
    room = max(SHORTEST, WIDTH - others)
    for row in rows:
        row[1] = row[1] if len(row[1]) <= room else f"{row[1][: room - 1]}…"
    return heads, rows


def _standing(entry: Entry, several: int, graded: bool, spoken: bool) -> list[str]:
    cells = [
        place(entry),
        entry.policy["name"],
        shown(entry.score),
        shown(entry.success),
        shown(entry.iqm),
        shown(entry.gap),
    ]
    if several > 1:
        chance = next((chance for chance in entry.chances if chance.attempts == several), None)
        cells += [NONE, NONE] if chance is None else [shown(chance.any), shown(chance.all)]
    if graded:
        found = entry.robustness
        cells += [NONE, NONE] if found is None else [shown(found.area), f"{found.worst}: {found.worst_score.value:.2f}"]
    cells += [f"{entry.malformed:.1%}"] if spoken else []
    behind = NONE if entry.leader is None else f"{shown(entry.leader.difference)} ({_detectable(entry.leader)})"
    badge = NONE if entry.verified is None else f"{entry.verified.by} ({entry.verified.how})"
    return [*cells, behind, str(entry.episodes), str(entry.faults), badge]


def place(entry: Entry) -> str:
    """Return an entry's place: ``1``, ``2–3``, or that it has none."""
    if entry.rank is None:
        return "reference"
    first, last = entry.rank
    return str(first) if first == last else f"{first}–{last}"


def pairs(comparisons: Sequence[Comparison]) -> tuple[list[str], list[list[str]]]:
    """Return heads and rows of the table of differences."""
    heads = ["first", "second", "difference of scores", "of success", "P(first is better)", "detectable", "p", "equal?"]
    return heads, [
        [
            each.first,
            each.second,
            shown(each.difference),
            shown(each.success),
            shown(each.improvement),
            _detectable(each),
            f"{each.p_value:.4f}",
            "may be" if each.tied else "no",
        ]
        for each in comparisons
    ]


def _detectable(comparison: Comparison) -> str:
    return NONE if comparison.detectable is None else f"{comparison.detectable:.3f}"


def sections(split: SplitBoard) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Yield title, heads and rows of the further tables that there is something to say in."""
    entries = split.entries
    for title, groups in (("Score per family", "families"), ("Score per style of the interface", "styles")):
        known = sorted({group.name for entry in entries for group in getattr(entry, groups)})
        if known:
            cells = [{group.name: shown(group.score) for group in getattr(entry, groups)} for entry in entries]
            yield title, ["policy", *known], _lines(entries, cells, known)
    for title, curves in (("Score per level", "levels"), ("Success per physical parameter", "adaptivity")):
        success = curves == "adaptivity"
        for name in sorted({curve.name for entry in entries for curve in getattr(entry, curves)}):
            points = [
                {f"{at.at:g}": shown(at.success if success else at.score) for at in curve.points}
                for entry in entries
                for curve in getattr(entry, curves)
                if curve.name == name
            ]
            heads = sorted({at for cells in points for at in cells}, key=float)
            yield f"{title}: {escaped(name)}", ["policy", *heads], _lines(entries, points, heads)
    told = [entry for entry in entries if entry.attribution is not None]
    if told:
        yield "Where failures come from", *_failures(told)


def _lines(entries: Sequence[Entry], cells: Sequence[dict[str, str]], heads: Sequence[str]) -> list[list[str]]:
    return [
        [entry.policy["name"], *(row.get(head, NONE) for head in heads)]
        for entry, row in zip(entries, cells, strict=True)
    ]


def _failures(entries: Sequence[Entry]) -> tuple[list[str], list[list[str]]]:
    known = sorted({name for entry in entries if entry.attribution for name in entry.attribution.shares})
    rows = []
    for entry in entries:
        found = entry.attribution
        assert found is not None
        shares = [f"{found.shares[name]:.2f}" if name in found.shares else NONE for name in known]
        right = NONE if found.precision is None else f"{found.precision:.2f} of {found.claims}"
        rest = NONE if found.unexplained is None else f"{found.unexplained:.2f}"
        rows.append([entry.policy["name"], str(found.failures), str(found.examined), *shares, rest, right])
    return ["policy", "failures", "examined", *known, "unexplained", "right claims"], rows


def shown(estimate: Estimate) -> str:
    """Return a figure with its interval: ``0.412 [0.380, 0.447]``."""
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.3f}"
    return f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown; cells are text and nothing else."""
    lines = [list(map(escaped, heads)), ["---"] * len(heads), *(list(map(escaped, row)) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def escaped(text: str) -> str:
    """Return text that Markdown shows as it is, in one line."""
    return SPECIAL.sub(r"\\\1", " ".join(text.split()))


def columns(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table for a terminal."""
    cells = [[" ".join(cell.split()) for cell in row] for row in (heads, *rows)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(heads))]
    return "\n".join(
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells
    )
