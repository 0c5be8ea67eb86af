"""Actions: one whole number, or three, for each thing that can be ordered; and words for both.

A command is what the plant takes: (verb, station, argument). A flat action is the number of a command in the list of
all 545 that make sense by themselves; whether one is possible now is what ``info["action_mask"]`` tells.
"""

from __future__ import annotations

from difflib import get_close_matches
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linegym.plant import (
    ACTIONS,
    ARGUMENTS,
    CHANNELS,
    CLAIMS,
    FAULTS,
    FIRST_CLOSE,
    FIRST_DIAGNOSE,
    FIRST_DISPATCH,
    FIRST_INSPECT,
    FIRST_ORDER,
    FIRST_THROTTLE,
    ORDER_SIZES,
    PARTS,
    STATIONS,
    TECHNICIANS,
    VERBS,
    Fault,
    Verb,
)

NOOP = 0
"""The flat action that does nothing."""
SIZES = (VERBS, STATIONS, ARGUMENTS)
"""Values of a command's three numbers."""
CLAIM_NAMES = (*(Fault(each + 1).name.lower().replace("_", "-") for each in range(FAULTS)), "disturbance", "network")
"""What can be claimed of an alarm: a fault class, or that there is no fault."""


def _all_commands() -> NDArray[np.int32]:
    """Return the command of each flat action, shape (ACTIONS, 3)."""
    commands = [(int(Verb.NOOP), 0, 0)]
    commands += [(int(Verb.INSPECT), station, channel) for station in range(STATIONS) for channel in range(CHANNELS)]
    commands += [(int(Verb.DIAGNOSE), station, claim) for station in range(STATIONS) for claim in range(CLAIMS)]
    commands += [(int(Verb.ORDER), 0, argument) for argument in range(PARTS * len(ORDER_SIZES))]
    commands += [(int(Verb.DISPATCH), station, who) for who in range(TECHNICIANS) for station in range(STATIONS)]
    commands += [(int(Verb.CLOSE), station, 0) for station in range(STATIONS)]
    commands += [(int(Verb.THROTTLE), station, argument) for station in range(STATIONS) for argument in range(2)]
    table = np.array(commands, dtype=np.int32)
    table.flags.writeable = False
    return table


COMMANDS = _all_commands()
"""The command of each flat action, shape (545, 3)."""


# ---- words


def inspect(station: int, channel: int = 0) -> int:
    """Return the action that sends the nearest idle technician to measure a channel of a station cleanly."""
    return FIRST_INSPECT + _of("station", station, STATIONS) * CHANNELS + _of("channel", channel, CHANNELS)


def diagnose(station: int, claim: int | str) -> int:
    """Return the action that opens a work order with a claimed fault class, or dismisses the alarm.

    Args:
        station: From 0.
        claim: A name of ``linegym.actions.CLAIM_NAMES`` or its number; the last two, ``"disturbance"`` and
            ``"network"``, dismiss.
    """
    return FIRST_DIAGNOSE + _of("station", station, STATIONS) * CLAIMS + _claim(claim, CLAIMS)


def order(part: int | str, quantity: int = 1) -> int:
    """Return the action that orders spare parts.

    Args:
        part: The fault class that it mends, by name, or its number from 0.
        quantity: 1 or 3.
    """
    if quantity not in ORDER_SIZES:
        allowed = " or ".join(map(str, ORDER_SIZES))
        raise ValueError(f"quantity={quantity!r} cannot be ordered; give {allowed}")
    return FIRST_ORDER + _claim(part, PARTS) * len(ORDER_SIZES) + ORDER_SIZES.index(quantity)


def dispatch(technician: int, station: int) -> int:
    """Return the action that sends a technician, with the part of the claimed class, to repair a station."""
    return FIRST_DISPATCH + _of("technician", technician, TECHNICIANS) * STATIONS + _of("station", station, STATIONS)


def close(station: int) -> int:
    """Return the action that closes a station's work order after the repair, or withdraws it before one."""
    return FIRST_CLOSE + _of("station", station, STATIONS)


def throttle(station: int) -> int:
    """Return the action that lets a station run at half speed."""
    return FIRST_THROTTLE + _of("station", station, STATIONS) * 2 + 1


def resume(station: int) -> int:
    """Return the action that lets a throttled station run at full speed again."""
    return FIRST_THROTTLE + _of("station", station, STATIONS) * 2


def describe(action: int | NDArray[Any]) -> str:
    """Return what an action, flat or of three numbers, does, in words."""
    verb, station, argument = (
        _row(action).tolist() if np.ndim(action) == 0 else single_command(action, "multi").tolist()
    )
    claim = CLAIM_NAMES[argument] if argument < CLAIMS else f"unknown claim {argument}"
    match Verb(verb):
        case Verb.INSPECT:
            return f"inspect channel {argument} of station {station}"
        case Verb.DIAGNOSE if FAULTS <= argument < CLAIMS:
            return f"dismiss the alarm of station {station}: {claim}"
        case Verb.DIAGNOSE:
            return f"open a work order for station {station}: {claim}"
        case Verb.ORDER:
            part, size = divmod(argument, len(ORDER_SIZES))
            return f"order {ORDER_SIZES[size]} of the part against {CLAIM_NAMES[part]}"
        case Verb.DISPATCH:
            return f"dispatch technician {argument} to station {station}"
        case Verb.CLOSE:
            return f"close the work order of station {station}"
        case Verb.THROTTLE:
            return f"{'throttle' if argument else 'resume'} station {station}"
        case _:
            return "do nothing"


def command(action: int) -> NDArray[np.int32]:
    """Return a flat action as the three numbers that ``action="multi"`` takes."""
    return _row(action).copy()


# ---- what an environment is given


def single_command(action: Any, kind: str) -> NDArray[np.int32]:
    """Return the command (3,) of one action.

    Args:
        action: As the space of that kind holds it.
        kind: ``"flat"`` or ``"multi"``.

    Raises:
        TypeError: it is not made of whole numbers.
        ValueError: a number is out of range, or there are not three of them.
    """
    if kind == "flat":
        return _row(action)
    return _checked(_whole_numbers(action), (3,), "one (verb, station, argument)")


def batch_commands(actions: Any, rows: int, kind: str) -> NDArray[np.int32]:
    """Return the commands of one action a row, shape (rows, 1, 3); see ``single_command``."""
    given = _whole_numbers(actions)
    if kind == "multi":
        return _checked(given, (rows, 3), f"(verb, station, argument) for each of {rows} rows").reshape(rows, 1, 3)
    if given.shape != (rows,):
        raise ValueError(f"actions have shape {given.shape}; give one for each of {rows} rows: shape ({rows},)")
    wrong = np.flatnonzero((given < 0) | (given >= ACTIONS))
    if len(wrong):
        row = int(wrong[0])
        raise ValueError(
            f"action {int(given[row])} of row {row} is out of range; give a number from 0 to {ACTIONS - 1}"
        )
    commands: NDArray[np.int32] = COMMANDS[given].reshape(rows, 1, 3)
    return commands


def _row(action: Any) -> NDArray[np.int32]:
    found: NDArray[np.int32] = COMMANDS[_flat(action)]
    return found


def _flat(action: Any) -> int:
    try:
        number = index(action)
    except TypeError:
        raise TypeError(
            f"action {action!r} of type {type(action).__name__} is no whole number; give one from 0 to {ACTIONS - 1}"
        ) from None
    if not 0 <= number < ACTIONS:
        raise ValueError(f"action {action!r} is out of range; give a whole number from 0 to {ACTIONS - 1}")
    return number


def _whole_numbers(given: Any) -> NDArray[Any]:
    array = np.asarray(given)
    if array.dtype.kind not in "iu":
        raise TypeError(f"actions {given!r:.80} have type {array.dtype}; give whole numbers, such as dtype=np.int64")
    return array


def _checked(given: NDArray[Any], shape: tuple[int, ...], wanted: str) -> NDArray[np.int32]:
    """Return commands whose numbers are all in their ranges."""
    if given.shape != shape:
        raise ValueError(f"the action has shape {given.shape}; give {wanted}: shape {shape}")
    if (given < 0).any() or (given >= SIZES).any():
        raise ValueError(f"action {given.tolist()!r:.80} is out of range; each number is below {SIZES}, from 0")
    return given.astype(np.int32)


def _of(name: str, given: int, count: int) -> int:
    """Return a number of something that there are so many of."""
    try:
        number = index(given)
    except TypeError:
        raise TypeError(f"{name}={given!r} is no whole number; give one from 0 to {count - 1}") from None
    if not 0 <= number < count:
        raise ValueError(f"{name}={given!r} is out of range; give a whole number from 0 to {count - 1}")
    return number


def _claim(given: int | str, count: int) -> int:
    if not isinstance(given, str):
        return _of("claim" if count == CLAIMS else "part", given, count)
    if given not in CLAIM_NAMES[:count]:
        near = get_close_matches(given, CLAIM_NAMES[:count], n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise ValueError(f"{given!r} is not known; {hint}allowed are {', '.join(CLAIM_NAMES[:count])}")
    return CLAIM_NAMES.index(given)
