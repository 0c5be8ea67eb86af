"""The flat numbering of all commands, and which of them are possible."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from linegym.plant import (
    ACTIONS,
    CHANNELS,
    CLAIMS,
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
    Verb,
)
from linegym.reference.commands import is_possible

if TYPE_CHECKING:
    from linegym.reference.line import ReferenceLine

Command = tuple[int, int, int]
"""Verb, station, argument."""


def _numbered() -> dict[int, Command]:
    """Return every command by its flat number."""
    numbered: dict[int, Command] = {0: (Verb.NOOP, 0, 0)}
    for s in range(STATIONS):
        numbered |= {FIRST_INSPECT + s * CHANNELS + k: (Verb.INSPECT, s, k) for k in range(CHANNELS)}
        numbered |= {FIRST_DIAGNOSE + s * CLAIMS + claim: (Verb.DIAGNOSE, s, claim) for claim in range(CLAIMS)}
        numbered |= {FIRST_DISPATCH + k * STATIONS + s: (Verb.DISPATCH, s, k) for k in range(TECHNICIANS)}
        numbered[FIRST_CLOSE + s] = (Verb.CLOSE, s, 0)
        numbered |= {FIRST_THROTTLE + s * 2 + throttle: (Verb.THROTTLE, s, throttle) for throttle in range(2)}
    numbered |= {FIRST_ORDER + lot: (Verb.ORDER, 0, lot) for lot in range(PARTS * len(ORDER_SIZES))}
    return numbered


COMMANDS: tuple[Command, ...] = tuple(command for _, command in sorted(_numbered().items()))
"""Every command, by its flat number."""
assert len(COMMANDS) == ACTIONS


def possible(line: ReferenceLine) -> NDArray[np.bool_]:
    """Return for every flat action whether that command alone would be possible now, shape (ACTIONS,)."""
    return np.array([is_possible(line, *command) for command in COMMANDS], dtype=np.bool_)
