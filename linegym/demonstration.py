"""What the production line shows of itself in ``rolf demo``: one work order told through, then thousands of lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from linegym.fleet import Cost, play_all
from linegym.plant import HORIZON, TICK, UNITS
from linegym.play import Played
from linegym.render.words import clock, quantity_name
from linegym.story import PHASES, Story, story
from linegym.variants import FAMILIES, Variant, split, variant
from rolf.exhibit import Chart, Charts, Figure, Figures, Picture, Progress, Prose, Section, Series, Table

PLAYER = "cusum"
"""The expert that comes with the line: it sees what an agent sees, and nothing else."""
TOLD_OF = "serial/thermocouple/profinet/bearing+sensor:2"
"""The line of the story: a bearing that wears out, read by a thermocouple that lies a little."""
MEANINGS = {
    "identify": "until the fault class is claimed",
    "assess": "until a technician is sent",
    "dispatch": "until he is there",
    "execute": "until it is repaired, verified and closed",
}
MEASURES = ("repaired in time", "success", "return")
"""Share of the faults that count, share of the shifts, mean."""


@dataclass(frozen=True, slots=True)
class Reached:
    """What was reached under one family at one intensity."""

    family: str
    intensity: int
    lines: int
    faults: int
    """That count."""
    measures: tuple[float, float, float]
    """In the order of MEASURES."""


def demonstrate(count: int, seed: int, progress: Progress) -> Iterator[Section]:
    """See ``rolf.environments.Exhibitor.demonstrate``."""
    yield _one_order(story(PLAYER, variant(TOLD_OF), seed))
    train = split("train")
    chosen = [train[number % len(train)] for number in range(count)]
    # More lines than the set has go round again, under the next seed.
    played, cost = play_all(PLAYER, chosen, [seed + number // len(train) for number in range(count)], progress)
    yield _many_lines(chosen, played, cost)


# ---- one work order


def _one_order(told: Story) -> Section:
    begun, _, _, _, over = told.starts
    prose = (
        f"{told.variant.id}, seed {told.seed}, played by the expert ({PLAYER}), who sees what an agent sees. Station "
        f"{told.station} gets a fault ({told.fault}) {clock(begun)} into the shift; its order is closed, the fault "
        f"gone, {_minutes(over - begun)} later."
    )
    return Section(
        "One work order on one production line",
        (
            Prose(prose),
            _phases(told),
            Charts((_trace(told),)),
            Picture(told.picture, f"The whole line as the technician begins at station {told.station}"),
        ),
    )


def _trace(told: Story) -> Chart:
    marks = zip(told.starts, ("fault", "claimed", "sent", "there", "closed"), strict=True)
    return Chart(
        f"Station {told.station}: {quantity_name(told.quantity)} [{UNITS[told.quantity]}]",
        "minutes into the shift",
        (
            Series("delivered to the agent", tuple((_minute(tick), value) for tick, value in told.delivered)),
            Series("true, hidden from it", tuple((_minute(tick), value) for tick, value in told.true)),
        ),
        tuple((_minute(tick), word) for tick, word in marks),
    )


def _phases(told: Story) -> Table:
    rows = []
    for number, phase in enumerate(PHASES):
        begun, over = told.starts[number : number + 2]
        rows.append((phase, clock(begun), _minutes(over - begun), MEANINGS[phase], "; ".join(told.deeds[number])))
    return Table("", ("phase", "from", "takes", "", "what was commanded"), tuple(rows), frozenset({1, 2}))


def _minute(tick: int) -> float:
    return tick * TICK / 60


def _minutes(ticks: int) -> str:
    return f"{_minute(ticks):.1f} min"


# ---- many lines


def _many_lines(variants: Sequence[Variant], played: Played, cost: Cost) -> Section:
    prose = (
        f"The first {len(variants):,} variants of the training set, a whole shift of {HORIZON} ticks (one hour of "
        f"the plant) each, played by the expert ({PLAYER}). A fault counts when it appears in the first three quarters "
        "of the shift; a shift succeeds when all that count are repaired and closed in time and the output is large "
        "enough."
    )
    reached = _reached(variants, played)
    headings = ("disturbed by", "intensity", "lines", "faults that count", *MEASURES)
    table = Table("", headings, tuple(_written(each) for each in reached), frozenset(range(1, len(headings))))
    curves = Charts(tuple(_curve(reached, number) for number in range(len(MEASURES))))
    return Section(f"{len(variants):,} production lines", (Prose(prose), _figures(cost), table, curves))


def _figures(cost: Cost) -> Figures:
    processes = "one process" if cost.processes == 1 else f"{cost.processes} processes"
    whole = f"{cost.steps:,} in {cost.wall:.1f} s, {processes}"
    return Figures(
        (
            Figure(f"{cost.rate:,.0f}/s", "steps with the expert", whole),
            Figure(f"{cost.rate_played:,.0f}/s", "the same on one processor", "by processor time, start left out"),
            Figure(f"{cost.rate_alone:,.0f}/s", "the lines alone", "by processor time, observations included"),
        )
    )


def _reached(variants: Sequence[Variant], played: Played) -> list[Reached]:
    """Return what was reached, by family and intensity."""
    intensities = np.array([variant.levels for variant in variants], np.int64)
    found = []
    for column, family in enumerate(FAMILIES):
        for intensity in np.unique(intensities[:, column]):
            rows = intensities[:, column] == intensity
            if intensity == 0 or not rows.any():
                continue
            due = int(played.faults_due[rows].sum())
            measures = (
                int(played.closed_due[rows].sum()) / max(due, 1),
                float(played.success[rows].mean()),
                float(played.returns[rows].mean()),
            )
            found.append(Reached(family, int(intensity), int(rows.sum()), due, measures))
    return found


def _written(reached: Reached) -> tuple[str, ...]:
    repaired, success, total = reached.measures
    counts = f"{reached.lines:,}", f"{reached.faults:,}"
    return (reached.family, str(reached.intensity), *counts, f"{repaired:.0%}", f"{success:.0%}", f"{total:.1f}")


def _curve(reached: Sequence[Reached], measure: int) -> Chart:
    series = []
    for family in dict.fromkeys(each.family for each in reached):
        points = tuple((float(each.intensity), each.measures[measure]) for each in reached if each.family == family)
        series.append(Series(family, points, dotted=True))
    share = MEASURES[measure] != "return"
    return Chart(MEASURES[measure], "intensity", tuple(series), least=0.0, most=1.0 if share else None)
