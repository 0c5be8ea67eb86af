"""Narration: a shift of which the commands are known, told through, for the leaderboard's page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linegym.actions import COMMANDS, describe, single_command
from linegym.batch import Batch
from linegym.errors import ArgumentError
from linegym.evaluation import line
from linegym.layout import FACTS
from linegym.plant import TICK, Verb
from linegym.render.words import clock
from linegym.story import PHASES
from rolf.evaluation.narration import Deed, Narration
from rolf.exhibit import Chart, Charts, Series, Table
from rolf.variant import Variant

EVERY = 4
"""Ticks from one point of a chart to the next."""


@dataclass(frozen=True, slots=True)
class Moment:
    """What is known of a tick."""

    facts: dict[str, int]
    faulty: int
    """Stations with a fault."""


def narrate(variant: Variant, seed: int, actions: Sequence[Any]) -> Narration:
    """Do the commands again and tell what came of them: see ``rolf.evaluation.narration.Narrator``.

    Raises:
        ArgumentError: it is no line of a split, or these are no commands of a shift of it.
    """
    numbers = [_number(action) for action in actions]
    moments = list(_moments(variant, seed, numbers))
    deeds = tuple(_deed(number) for number in numbers)
    return Narration(deeds, (_orders(moments), Charts((_parts(moments), _faults(moments)))))


def _number(action: Any) -> int:
    try:
        single_command(action, "flat")
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"an action of a shift is no command: {error}") from error
    return int(action)


def _deed(number: int) -> Deed:
    verb = Verb(int(COMMANDS[number][0]))
    return Deed("" if verb is Verb.NOOP else verb.name.lower(), describe(number))


def _moments(variant: Variant, seed: int, numbers: Sequence[int]) -> Iterator[Moment]:
    batch = Batch([line(variant)], autoreset="disabled", evaluation=True)
    if len(numbers) > batch.horizon:
        raise ArgumentError(f"{len(numbers)} commands are more than a shift has ticks ({batch.horizon})")
    batch.reset(np.array([seed], np.uint64))
    for number in numbers:
        # Picked by an array it is a copy: for a view of a table that is read-only the kernel would be compiled anew.
        batch.step(COMMANDS[np.array([number])][:, None])
        facts = dict(zip(FACTS, batch.facts[0].tolist(), strict=True))
        yield Moment(facts, int(np.count_nonzero(batch.faults()[0])))


def _orders(moments: Sequence[Moment]) -> Table:
    rows = []
    for moment in moments:
        facts = moment.facts
        if facts["closed_station"] >= 0:
            outcome = "fault gone" if facts["closed_right"] else "in vain"
            lengths = (f"{_minutes(facts[phase]):.1f}" for phase in PHASES)
            rows.append((clock(facts["tick"]), str(facts["closed_station"]), outcome, *lengths))
    headings = ("closed at", "station", "outcome", *(f"{phase} [min]" for phase in PHASES))
    return Table("Work orders closed, and how long each phase took", headings, tuple(rows), frozenset({1, 3, 4, 5, 6}))


def _parts(moments: Sequence[Moment]) -> Chart:
    return Chart(
        "Parts", "minutes into the shift", tuple(_series(moments, name) for name in ("output", "scrap")), least=0
    )


def _faults(moments: Sequence[Moment]) -> Chart:
    ill = Series("faulty stations", tuple((_minutes(m.facts["tick"]), m.faulty) for m in moments[::EVERY]))
    return Chart("Faults", "minutes into the shift", (ill, _series(moments, "closed")), least=0)


def _series(moments: Sequence[Moment], name: str) -> Series:
    return Series(name, tuple((_minutes(m.facts["tick"]), m.facts[name]) for m in moments[::EVERY]))


def _minutes(ticks: int) -> float:
    return ticks * TICK / 60
