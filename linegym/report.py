"""Report: an observation of the line in words and numbers, for policies that read; every number of it comes in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from linegym.actions import CLAIM_NAMES
from linegym.layout import SEEN_CREW, SEEN_LINE, SEEN_STRIDE
from linegym.plant import CHANNELS, PARTS, STATIONS, TECHNICIANS, Crew, Order, Panel
from rolf.interface import Role, Section

Numbers = NDArray[np.float32]

STORE = SEEN_CREW + TECHNICIANS * 4
"""Where the parts begin."""
HEADINGS = (
    "station light order claim order-age technician alarm throttled readings spreads inspected inspection-age "
    "sample-age gaps scan cycle passed upstream downstream"
)
"""Of the table of stations. Units: ``linegym.spaces.obs_spec``."""


def report(seen: Numbers) -> Sequence[Section]:
    """Return an observation, shape (632,), as sections."""
    count = round(float(seen[SEEN_LINE + 6]) * STATIONS)
    rows = (" ".join(_station(number, seen[number * SEEN_STRIDE :][:SEEN_STRIDE])) for number in range(count))
    crew = (_technician(number, seen[SEEN_CREW + number * 4 :][:4]) for number in range(TECHNICIANS))
    store = (_part(number, seen[STORE + number * 3 :][:3]) for number in range(PARTS))
    return (
        Section("shift", f"{seen[SEEN_LINE]:.4f} over"),
        Section("output", _number(seen[SEEN_LINE + 1])),
        Section("scrap", _number(seen[SEEN_LINE + 2])),
        Section("alarms", round(float(seen[SEEN_LINE + 3]) * 24)),
        Section("idle_technicians", round(float(seen[SEEN_LINE + 4]) * 6)),
        Section("open_orders", round(float(seen[SEEN_LINE + 7]) * 24)),
        Section("last_command", "not possible" if seen[SEEN_LINE + 5] else "taken"),
        Section("stations", "\n".join([HEADINGS, *rows]), Role.OUTPUT),
        Section("technicians", "\n".join(crew), Role.OUTPUT),
        Section("parts", "\n".join(store), Role.OUTPUT),
    )


def _station(number: int, seen: Numbers) -> Iterator[str]:
    technician = round(float(seen[17]) * 6)
    claim = round(float(seen[15]) * 8)
    yield f"S{number}"
    yield Panel(round(float(seen[13]) * 4)).name.lower()
    yield Order(round(float(seen[14]) * 4)).name.lower()
    yield CLAIM_NAMES[claim - 1] if claim else "-"
    yield _number(seen[16])
    yield f"T{technician - 1}" if technician else "-"
    yield "ALARM" if seen[18] else "-"
    yield "throttled" if seen[19] else "-"
    for first in (0, CHANNELS, 20):
        yield "/".join(_number(each) for each in seen[first : first + CHANNELS])
    for index in (23, 6, 7, 8, 9, 10, 11, 12):
        yield _number(seen[index])


def _technician(number: int, seen: Numbers) -> str:
    at, to = round(float(seen[1]) * STATIONS), round(float(seen[2]) * STATIONS)
    state = Crew(round(float(seen[0]) * 4)).name.lower()
    return f"T{number} {state} at S{at}{f', to S{to - 1}' if to else ''}, {float(seen[3]) * 50:.0f} ticks left"


def _part(number: int, seen: Numbers) -> str:
    stock, coming = round(float(seen[0]) * 10), round(float(seen[1]) * 10)
    return (
        f"{CLAIM_NAMES[number]} {stock} in store, {coming} coming{f' in {seen[2] * 200:.0f} ticks' if coming else ''}"
    )


def _number(value: np.float32) -> str:
    """Return a number to a thousandth, or to three digits where it is large."""
    return f"{round(float(value), 3) + 0.0:.3g}"  # + 0.0: minus nothing is nothing
