"""What an agent sees and does, as Gymnasium spaces, and the name of every number in it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from linegym.actions import SIZES
from linegym.plant import ACTIONS, CHANNELS, PARTS, SCAN_HIGH, STATIONS, TECHNICIANS, TICK

OBSERVATIONS = ("flat", "dict")
ACTION_KINDS = ("flat", "multi")


@dataclass(frozen=True, slots=True)
class Entry:
    """One number of the observation."""

    name: str
    """``station[3].age``, ``technician[0].state``, ``part[7].stock``, ``line.output``."""
    index: int
    """Where it lies in the flat observation."""
    unit: str
    """What 1.0 of it is."""
    min: float
    max: float
    meaning: str


class _Field(NamedTuple):
    """An entry without its place."""

    name: str
    unit: str
    min: float
    max: float
    meaning: str


_STATION: tuple[_Field, ...] = (
    *(
        _Field(f"value[{k}]", "usual spread", -50, 50, "newest delivered reading, from the usual")
        for k in range(CHANNELS)
    ),
    *(
        _Field(f"spread[{k}]", "usual spread", 0, 50, "standard deviation of the latest readings")
        for k in range(CHANNELS)
    ),
    _Field("age", f"{16 * TICK} s", 0, 4, "age of the newest delivered sample"),
    _Field("gaps", "8 samples", 0, 8, "smoothed count of samples that never came"),
    _Field("scan", "nominal scan", 0, SCAN_HIGH, "scan time that the PLC reported"),
    _Field("cycle", "nominal cycle", 0, 8, "smoothed time to process a part"),
    _Field("done", "100 parts", 0, 10, "parts passed on"),
    _Field("upstream", "capacity", 0, 1, "fill of the first input buffer; 1 for the source"),
    _Field("downstream", "capacity", 0, 1, "fill of the first output buffer; 0 for the sink"),
    _Field("panel", "4", 0, 1, "stack light: an index into plant.Panel"),
    _Field("order", "4", 0, 1, "state of the work order: an index into plant.Order"),
    _Field("claim", "8", 0, 1, "claimed fault class of the work order; 0 none"),
    _Field("order_age", f"{100 * TICK} s", 0, 2, "time since the work order was opened"),
    _Field("technician", "6", 0, 1, "1 + number of the technician on the work order; 0 none"),
    _Field("alarm", "", 0, 1, "1 while the health alarm is latched"),
    _Field("throttled", "", 0, 1, "1 while throttled"),
    *(_Field(f"clean[{k}]", "usual spread", -50, 50, "what the last inspection measured") for k in range(CHANNELS)),
    _Field("inspection_age", f"{100 * TICK} s", 0, 1, "time since the last inspection; 1 before the first"),
)
_TECHNICIAN: tuple[_Field, ...] = (
    _Field("state", "4", 0, 1, "an index into plant.Crew"),
    _Field("at", "24 stations", 0, 1, "station where he is, or left"),
    _Field("to", "24 stations", 0, 1, "1 + station where he goes; 0 nowhere"),
    _Field("timer", f"{50 * TICK} s", 0, 1, "time until he is there, or done"),
)
_PART: tuple[_Field, ...] = (
    _Field("stock", "10 pieces", 0, 1, "pieces in store"),
    _Field("coming", "10 pieces", 0, 1, "pieces ordered"),
    _Field("arrival", f"{200 * TICK} s", 0, 1, "time until they come; 0 none ordered"),
)
_LINE: tuple[_Field, ...] = (
    _Field("time", "horizon", 0, 1, "share of the shift that is over"),
    _Field("output", "nominal output of the shift", 0, 4, "parts finished"),
    _Field("scrap", "nominal output of the shift", 0, 4, "parts scrapped"),
    _Field("alarms", "24", 0, 1, "stations with a latched alarm"),
    _Field("idle_technicians", "6", 0, 1, "technicians with nothing to do"),
    _Field("invalid", "", 0, 1, "1 when the last command was not possible"),
    _Field("stations", "24", 0, 1, "stations of this line"),
    _Field("open_orders", "24", 0, 1, "stations with a work order"),
)


@cache
def obs_spec() -> tuple[Entry, ...]:
    """Return what each number of the flat observation is, in its order."""
    groups = (("station", STATIONS, _STATION), ("technician", TECHNICIANS, _TECHNICIAN), ("part", PARTS, _PART))
    fields = [
        field._replace(name=f"{group}[{number}].{field.name}")
        for group, count, members in groups
        for number in range(count)
        for field in members
    ]
    fields += [field._replace(name=f"line.{field.name}") for field in _LINE]
    return tuple(Entry(f.name, index, f.unit, f.min, f.max, f.meaning) for index, f in enumerate(fields))


def observation_space(kind: str) -> spaces.Space[Any]:
    """Return the observation space.

    Args:
        kind: ``"flat"``, or ``"dict"`` with the mask of possible actions beside the numbers.

    Raises:
        ValueError: there is no such kind.
    """
    low = np.array([entry.min for entry in obs_spec()], dtype=np.float32)
    high = np.array([entry.max for entry in obs_spec()], dtype=np.float32)
    box = spaces.Box(low, high, dtype=np.float32)
    if chosen("observation", kind, OBSERVATIONS) == "flat":
        return box
    return spaces.Dict({"action_mask": spaces.MultiBinary(ACTIONS), "observation": box})


def action_space(kind: str) -> spaces.Space[Any]:
    """Return the action space.

    Args:
        kind: ``"flat"``: Discrete(545); ``"multi"``: MultiDiscrete([7, 24, 16]).

    Raises:
        ValueError: there is no such kind.
    """
    if chosen("action", kind, ACTION_KINDS) == "flat":
        return spaces.Discrete(ACTIONS)
    return spaces.MultiDiscrete([*SIZES])


def chosen(name: str, got: str, allowed: tuple[str, ...]) -> str:
    """Return a choice if it is one.

    Raises:
        ValueError: it is not.
    """
    if got not in allowed:
        raise ValueError(f"{name}={got!r} is not known; allowed are {', '.join(map(repr, allowed))}")
    return got
