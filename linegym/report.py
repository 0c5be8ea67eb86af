"""Report: an observation of the line in words and numbers, for policies that read; every number of it comes in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from linegym.actions import CLAIM_NAMES
from linegym.layout import SEEN_CREW, SEEN_LINE, SEEN_STRIDE
from linegym.plant import CHANNELS, FAULTS, PARTS, STATIONS, TECHNICIANS, Crew, Order, Panel
from rolf.interface import Role, Section

Numbers = Sequence[float]

STORE = SEEN_CREW + TECHNICIANS * 4
"""Where the parts begin."""
HEADINGS = (
    "station light order claim order-age[ticks] technician alarm throttled readings[usual-spreads] "
    "spreads[usual-spreads] inspected[usual-spreads] inspection-age[ticks] sample-age[ticks] gaps[samples] "
    "scan[nominal] cycle[nominal] passed[parts] upstream[full] downstream[full]"
)
"""Of the table of stations."""
CHANNEL_FIELDS = (0, CHANNELS, 20)
"""Where readings, spreads and inspected begin among a station's numbers."""
SCALED = ((23, 100), (6, 16), (7, 8), (8, 1), (9, 1), (10, 100), (11, 1), (12, 1))
"""The numbers after them, and what 1.0 of each is (``linegym.spaces.obs_spec``)."""


def report(observation: NDArray[np.float32]) -> Sequence[Section]:
    """Return an observation, shape (632,), as sections."""
    seen: list[float] = observation.tolist()
    count = round(seen[SEEN_LINE + 6] * STATIONS)
    rows = (" ".join(_station(number, seen[number * SEEN_STRIDE :][:SEEN_STRIDE])) for number in range(count))
    crew = (_technician(number, seen[SEEN_CREW + number * 4 :][:4]) for number in range(TECHNICIANS))
    store = (_part(number, seen[STORE + number * 3 :][:3]) for number in range(PARTS))
    return (
        Section("shift", f"{seen[SEEN_LINE]:.2%} over"),
        Section("output", f"{seen[SEEN_LINE + 1]:.2%} of a shift's nominal"),
        Section("scrap", f"{seen[SEEN_LINE + 2]:.2%} of a shift's nominal"),
        Section("alarms", round(seen[SEEN_LINE + 3] * STATIONS)),
        Section("idle_technicians", round(seen[SEEN_LINE + 4] * TECHNICIANS)),
        Section("open_orders", round(seen[SEEN_LINE + 7] * STATIONS)),
        Section("last_command", "not possible" if seen[SEEN_LINE + 5] else "taken"),
        Section("stations", "\n".join([HEADINGS, *rows]), Role.OUTPUT),
        Section("technicians", "\n".join(crew), Role.OUTPUT),
        Section("parts", "\n".join(store), Role.OUTPUT),
    )


def _station(number: int, seen: Numbers) -> Iterator[str]:
    technician = round(seen[17] * TECHNICIANS)
    claim = round(seen[15] * FAULTS)
    yield f"S{number}"
    yield Panel(round(seen[13] * 4)).name.lower()
    yield Order(round(seen[14] * 4)).name.lower()
    yield CLAIM_NAMES[claim - 1] if claim else "-"
    yield _number(100 * seen[16])
    yield f"T{technician - 1}" if technician else "-"
    yield "ALARM" if seen[18] else "-"
    yield "throttled" if seen[19] else "-"
    for first in CHANNEL_FIELDS:
        yield "/".join(_number(each) for each in seen[first : first + CHANNELS])
    for index, unit in SCALED:
        yield _number(unit * seen[index])


def _technician(number: int, seen: Numbers) -> str:
    at, to = round(seen[1] * STATIONS), round(seen[2] * STATIONS)
    state = Crew(round(seen[0] * 4)).name.lower()
    return f"T{number} {state} at S{at}{f', to S{to - 1}' if to else ''}, {seen[3] * 50:.0f} ticks left"


def _part(number: int, seen: Numbers) -> str:
    stock, coming = round(seen[0] * 10), round(seen[1] * 10)
    when = f" in {seen[2] * 200:.0f} ticks" if coming else ""
    return f"{CLAIM_NAMES[number]} {stock} in store, {coming} coming{when}"


def _number(value: float) -> str:
    """Return a number to a thousandth, or to three digits where it is large."""
    return f"{round(value, 3) + 0.0:.3g}"  # + 0.0: minus nothing is nothing
