"""Tools: what an agent does on the line, as calls; and what it is told, section by section (``rolf.interface``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from linegym import actions
from linegym.actions import CLAIM_NAMES, COMMANDS, NOOP, single_command
from linegym.plant import CHANNELS, ORDER_SIZES, STATIONS, TECHNICIANS, Verb
from linegym.report import report
from rolf.interface import Alias, Call, Parameters, Section, Tool

PURPOSE = (
    "You run a production line for a shift. Stations wear out and fail, sensors and the network may mislead you. Find "
    "out what is wrong, open a work order, have the part, send a technician, close the order after the repair, and "
    "keep parts coming. A tick is 6 s. Readings are counted from what is usual for the station; a slash "
    "parts its three channels."
)
Station = Annotated[int, Field(ge=0, le=STATIONS - 1)]
Claim = Literal[
    "bearing",
    "overheat",
    "jam",
    "tool-wear",
    "leak",
    "sensor-drift",
    "sensor-stuck",
    "plc-comm",
    "disturbance",
    "network",
]
Part = Literal["bearing", "overheat", "jam", "tool-wear", "leak", "sensor-drift", "sensor-stuck", "plc-comm"]


class OfStation(Parameters):
    """What one station is asked for."""

    station: Station
    """Number of the station, from 0."""


class Inspect(Parameters):
    """What is measured."""

    station: Station
    """Number of the station, from 0."""
    channel: Annotated[int, Field(ge=0, le=CHANNELS - 1)] = 0
    """Which of its three readings."""


class Diagnose(Parameters):
    """What is claimed."""

    station: Station
    """Number of the station, from 0."""
    claim: Claim
    """Fault class; the last two say that there is no fault."""


class OrderPart(Parameters):
    """What is ordered."""

    part: Part
    """The fault class that it mends."""
    quantity: Literal[1, 3] = 1
    """Pieces."""


class Dispatch(Parameters):
    """Who goes where."""

    technician: Annotated[int, Field(ge=0, le=TECHNICIANS - 1)]
    """Number of the technician, from 0."""
    station: Station
    """Number of the station, from 0; it must have an open work order."""


def _aliases(function: str, device: str, **device_names: str) -> dict[str, Alias]:
    return {"function": Alias(function), "device": Alias(device, device_names)}


TOOLS = (
    Tool("wait", "Let a moment pass.", aliases=_aliases("do_nothing", "idle")),
    Tool(
        "inspect",
        "Send the nearest idle technician to measure a reading of a station cleanly.",
        Inspect,
        {"station": 3, "channel": 1},
        aliases=_aliases("inspect_station", "probe", station="unit", channel="sensor"),
    ),
    Tool(
        "diagnose",
        "Open a work order for a station with the fault class that you claim, or dismiss its alarm.",
        Diagnose,
        {"station": 3, "claim": "bearing"},
        aliases=_aliases("open_work_order", "ticket", station="unit", claim="cause"),
    ),
    Tool(
        "order",
        "Order spare parts.",
        OrderPart,
        {"part": "bearing", "quantity": 1},
        aliases=_aliases("order_part", "purchase", part="against", quantity="pieces"),
    ),
    Tool(
        "dispatch",
        "Send a technician, with the part of the claimed class, to repair a station.",
        Dispatch,
        {"technician": 0, "station": 3},
        aliases=_aliases("dispatch_technician", "send", technician="worker", station="unit"),
    ),
    Tool(
        "close",
        "Close the work order of a station after the repair, or withdraw it before one.",
        OfStation,
        {"station": 3},
        aliases=_aliases("close_work_order", "sign_off", station="unit"),
    ),
    Tool(
        "throttle",
        "Let a station run at half speed.",
        OfStation,
        {"station": 3},
        needed=False,
        aliases=_aliases("throttle_station", "slow_down", station="unit"),
    ),
    Tool(
        "resume",
        "Let a throttled station run at full speed again.",
        OfStation,
        {"station": 3},
        needed=False,
        aliases=_aliases("resume_station", "speed_up", station="unit"),
    ),
)
_KNOWN = frozenset(map(tuple, COMMANDS.tolist()))
_THROTTLED = 19
"""Where the observation says whether station 0 is throttled."""
_ACTIONS: Mapping[str, Callable[..., int]] = {
    "wait": lambda: NOOP,
    "inspect": actions.inspect,
    "diagnose": actions.diagnose,
    "order": actions.order,
    "dispatch": actions.dispatch,
    "close": actions.close,
    "throttle": actions.throttle,
    "resume": actions.resume,
}


def action_of(call: Call, kind: str) -> Any:
    """Return the action of a call, as the action space of that kind holds it."""
    return _as(_ACTIONS[call.tool](**call.arguments), kind)


def impossible(observation: NDArray[np.float32], kind: str) -> Any:
    """Return an action that is not possible now, whatever the state: what it does is to be counted as one.

    A station that runs at full speed cannot be told to do so, nor one at half speed to throttle.
    """
    throttled = observation[_THROTTLED] != 0
    return _as(actions.throttle(0) if throttled else actions.resume(0), kind)


def call_of(action: Any, kind: str) -> Call:
    """Return the call that does what an action does.

    Raises:
        TypeError, ValueError: it is no action of that kind, or one of three numbers that name nothing.
    """
    verb, station, argument = single_command(action, kind).tolist()
    if (verb, station, argument) not in _KNOWN:
        raise ValueError(f"({verb}, {station}, {argument}) names nothing to be done; see linegym.actions.COMMANDS")
    match Verb(verb):
        case Verb.INSPECT:
            return Call("inspect", {"station": station, "channel": argument})
        case Verb.DIAGNOSE:
            return Call("diagnose", {"station": station, "claim": CLAIM_NAMES[argument]})
        case Verb.ORDER:
            part, size = divmod(argument, len(ORDER_SIZES))
            return Call("order", {"part": CLAIM_NAMES[part], "quantity": ORDER_SIZES[size]})
        case Verb.DISPATCH:
            return Call("dispatch", {"technician": argument, "station": station})
        case Verb.CLOSE:
            return Call("close", {"station": station})
        case Verb.THROTTLE:
            return Call("throttle" if argument else "resume", {"station": station})
        case _:
            return Call("wait")


def told(observation: Any) -> Sequence[Section]:
    """Return what an agent is told of an observation, and nothing that is not in it."""
    return report(observation["observation"] if isinstance(observation, dict) else observation)


def _as(action: int, kind: str) -> Any:
    return action if kind == "flat" else actions.command(action).astype(np.int64)
