"""The ladder of policies: how far each gets, by family and intensity; ``python -m linegym.ladder``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from rich.table import Table

from linegym import policies as shipped
from linegym.perturbations import BENCHMARK
from linegym.plant import HORIZON
from linegym.play import Played, play
from linegym.scores import score
from linegym.splits import named
from linegym.variants import FAMILIES, Variant

MEASURES = ("returns", "success", "repaired", "mended", "score")
"""What is told of each policy; all are means over episodes or faults."""
ORDER = ("no-op", "random", "threshold", "cusum", "oracle")
"""The policies that must come in this order, with clear steps between them."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What a policy reached under one family at one intensity."""

    policy: str
    family: str
    """``sensor``, ``network`` or ``load``; several joined by ``+``; ``clean`` for none"""
    intensity: int
    episodes: int
    returns: float
    """mean return"""
    success: float
    """share of episodes that succeeded"""
    repaired: float
    """share of the faults that count which were mended and closed rightly in time"""
    mended: float
    """share of all faults whose work order was closed rightly, in time or not"""
    output: float
    """share of the nominal output"""
    score: float
    """mean of ``scores.score``: 0 is random, 1 the oracle"""


@dataclass(frozen=True, slots=True)
class Ladder:
    """What several policies reached on the same episodes."""

    cells: tuple[Cell, ...]

    def of(self, policy: str, family: str, intensity: int | None = None) -> Cell:
        """Return a policy's cell; without an intensity, the mean over those of the family.

        Raises:
            KeyError: nothing was played there.
        """
        found = [
            cell
            for cell in self.cells
            if (cell.policy, cell.family) == (policy, family) and intensity in (None, cell.intensity)
        ]
        if not found:
            raise KeyError(f"{policy!r} did not play {family!r} at {intensity!r}; played were {self._played()}")
        return found[0] if len(found) == 1 else _mean(found)

    def policies(self) -> tuple[str, ...]:
        """Return the policies, in the order in which they were given."""
        return tuple(dict.fromkeys(cell.policy for cell in self.cells))

    def places(self) -> tuple[tuple[str, int], ...]:
        """Return families and intensities, in order."""
        return tuple(dict.fromkeys((cell.family, cell.intensity) for cell in self.cells))

    def steps(self, family: str, measure: str, order: Sequence[str] = ORDER) -> dict[str, float]:
        """Return how far each policy is above the one before it, as a share of the way from random to the oracle."""
        reached = {policy: float(getattr(self.of(policy, family), measure)) for policy in order}
        span = reached["oracle"] - reached["random"]
        return {b: (reached[b] - reached[a]) / span for a, b in pairwise(order)}

    def markdown(self, measure: str) -> str:
        """Return a Markdown table of one measure: a row a policy, a column a family and intensity."""
        places = self.places()
        head = "| policy | " + " | ".join(f"{family} {intensity}" for family, intensity in places) + " |"
        lines = [head, "|---" + "|--:" * len(places) + "|"]
        for policy in self.policies():
            values = (_shown(self.of(policy, *place), measure) for place in places)
            lines.append(f"| {policy} | " + " | ".join(values) + " |")
        return "\n".join(lines)

    def table(self, measure: str) -> Table:
        """Return the same for a terminal."""
        table = Table(title=measure)
        table.add_column("policy")
        for family, intensity in self.places():
            table.add_column(f"{family} {intensity}", justify="right")
        for policy in self.policies():
            table.add_row(policy, *(_shown(self.of(policy, *place), measure) for place in self.places()))
        return table

    def _played(self) -> str:
        return ", ".join(f"{cell.policy}/{cell.family}:{cell.intensity}" for cell in self.cells)


def ladder(
    policies: Iterable[str], variants: Sequence[Variant], seeds: Sequence[int] = (0,), *, threads: int = 1
) -> Ladder:
    """Play every variant under every seed with every policy.

    Args:
        policies: Names of ``linegym.policies.POLICIES``.
        variants: Each is played with each seed, in the evaluation namespace.
        seeds: See there.
        threads: Threads to step with.

    Raises:
        ArgumentError: no policy has one of the names.
    """
    rows = [variant for variant in variants for _ in seeds]
    drawn = [seed for _ in variants for seed in seeds]
    cells: list[Cell] = []
    for name in policies:
        cells += _cells(name, rows, play(shipped.policy(name), rows, drawn, threads=threads))
    return Ladder(tuple(cells))


def _cells(name: str, variants: Sequence[Variant], played: Played) -> list[Cell]:
    """Return what a policy reached, place by place."""
    scores = np.array([score(variant, total) for variant, total in zip(variants, played.returns, strict=True)])
    nominal = np.array([variant.template.plant().nominal for variant in variants])
    places: dict[tuple[str, int], list[int]] = {}
    for row, variant in enumerate(variants):
        places.setdefault(_place(variant), []).append(row)
    found = []
    for (family, intensity), rows in places.items():
        due, faults = int(played.faults_due[rows].sum()), int(played.faults[rows].sum())
        found.append(
            Cell(
                name,
                family,
                intensity,
                len(rows),
                float(played.returns[rows].mean()),
                float(played.success[rows].mean()),
                int(played.closed_due[rows].sum()) / max(due, 1),
                int(played.closed[rows].sum()) / max(faults, 1),
                float((played.output[rows] / (nominal[rows] * HORIZON)).mean()),
                float(scores[rows].mean()),
            )
        )
    return found


def _place(variant: Variant) -> tuple[str, int]:
    """Return the families that disturb a variant, and the highest intensity; -1 for parameters of one's own."""
    levels = {
        name: level if isinstance(level, int) else -1
        for name, level in zip(FAMILIES, variant.levels, strict=True)
        if level != 0
    }
    return "+".join(levels) or "clean", max(levels.values(), default=0)


def _mean(cells: Sequence[Cell]) -> Cell:
    """Return the mean over cells of one policy and family, each intensity counting the same."""
    means = {name: sum(getattr(cell, name) for cell in cells) / len(cells) for name in (*MEASURES, "output")}
    return Cell(cells[0].policy, cells[0].family, -1, sum(cell.episodes for cell in cells), **means)


def _shown(cell: Cell, measure: str) -> str:
    value = float(getattr(cell, measure))
    return f"{value:.1f}" if measure == "returns" else f"{value:.2f}"


def sample(templates: int, intensities: Sequence[int] = BENCHMARK) -> list[Variant]:
    """Return variants for a ladder: templates drawn by hash, each family, each intensity.

    Args:
        templates: How many, at most 683.
        intensities: 1 … 5 are the benchmark; 0 is a clean line, once and not a family.
    """
    chosen = [variant.template for variant in named("clean")][:templates]
    clean = [Variant(template) for template in chosen] if 0 in intensities else []
    return clean + [
        Variant(template, **{family: intensity})
        for family in FAMILIES
        for intensity in intensities
        if intensity
        for template in chosen
    ]


if __name__ == "__main__":
    from linegym.ladder_command import command

    command()
