"""Scores: a return between that of acting at random, 0, and that of knowing every fault, 1.

Both were played on every variant of the benchmark and on every template without any family above its nuisance level;
the means of four episodes in the evaluation namespace ship as ``data/baselines.csv``, made by
``data/make_baselines.py``. So does the oracle's output, of which an episode needs 0.9 to succeed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from linegym.errors import VariantError
from linegym.perturbations import BENCHMARK
from linegym.tables import published
from linegym.templates import CustomTemplate
from linegym.variants import FAMILIES, Variant
from linegym.variants import variant as named

BASELINES_SHA256 = "8273f36996402748b533a8f794bc06d679e4f82d60fafda55fc598072d9db9b6"
NEEDED = 0.9
"""Share of the oracle's output that an episode needs to succeed."""
EPISODES = 4
"""Episodes of each variant that were played."""
PLACES = ("clean", *(f"{family}:{intensity}" for family in FAMILIES for intensity in BENCHMARK))
"""Columns of the file: what disturbs a template, one family at a time."""


class Baseline(NamedTuple):
    """What is reached on a variant, mean over episodes."""

    chance: float
    """return of acting at random"""
    oracle: float
    """return of the oracle"""
    output: float
    """parts that the oracle makes"""


@cache
def _published() -> dict[str, tuple[Baseline, ...]]:
    """Return the file: template -> a baseline a place."""
    found = {}
    for line in published("baselines.csv", BASELINES_SHA256).decode().splitlines()[1:]:
        name, *numbers = line.split(",")
        values = [float(number) for number in numbers]
        found[name] = tuple(Baseline(*values[at : at + 3]) for at in range(0, len(values), 3))
    return found


def baseline(variant: Variant) -> Baseline | None:
    """Return what is reached on a variant, None for a line or parameters of one's own.

    Beyond intensity 5 it is what is reached at 5. Under several families at once, each is taken to add what it adds
    alone to the returns, and to leave the share of the output that it leaves alone.
    """
    if isinstance(variant.template, CustomTemplate):
        return None
    places = []
    for family, level in zip(FAMILIES, variant.levels, strict=True):
        if not isinstance(level, int):
            return None
        if level:
            places.append(PLACES.index(f"{family}:{min(level, BENCHMARK[-1])}"))
    row = _published()[variant.template.name]
    found = clean = row[0]
    for place in places:
        share = row[place].output / clean.output
        found = Baseline(
            found.chance + (row[place].chance - clean.chance),
            found.oracle + (row[place].oracle - clean.oracle),
            found.output * share,
        )
    return found


def target(variant: Variant) -> float:
    """Return the output that success needs [parts]; 0, nothing, where no baseline is known."""
    known = baseline(variant)
    return 0.0 if known is None else NEEDED * known.output


def scorer() -> Callable[[str, float], float]:
    """Return a function of a variant's name and a return that says the score; see `score`."""
    return lambda name, total: score(named(name), total)


def score(variant: Variant, total: float) -> float:
    """Return the score of a return: 0 for acting at random, 1 for the oracle; below and above are possible.

    Raises:
        VariantError: it is a line, or has parameters, of one's own; nobody has played it before.
    """
    known = baseline(variant)
    if known is None:
        raise VariantError(f"{variant.id!r} is no published variant and has no baselines; compare returns instead")
    return (total - known.chance) / (known.oracle - known.chance)
