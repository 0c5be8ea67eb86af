"""An observation taken apart: the same numbers, field by field, in the units that one thinks in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linegym.layout import SEEN_CREW, SEEN_LINE, SEEN_STRIDE
from linegym.plant import (
    CHANNELS,
    CLAIMS,
    FIRST_DIAGNOSE,
    FIRST_DISPATCH,
    FIRST_INSPECT,
    FIRST_ORDER,
    ORDER_SIZES,
    PARTS,
    STATIONS,
    TECHNICIANS,
    Crew,
)

Reals = NDArray[np.float32]
Wholes = NDArray[np.int16]
Flags = NDArray[np.bool_]

SEEN_PARTS = SEEN_LINE - 3 * PARTS


@dataclass(frozen=True, slots=True)
class Sight:
    """What can be seen of ``n`` lines; station fields are (n, 24)."""

    values: Reals
    """(3, n, 24) newest delivered readings [usual spread]"""
    age: Wholes
    """of the newest sample [ticks]"""
    scan: Reals
    """reported scan time [nominal]"""
    cycle: Reals
    """smoothed time of a part [nominal]"""
    panel: Wholes
    """``plant.Panel``"""
    order: Wholes
    """``plant.Order``"""
    claim: Wholes
    """claimed class - 1, or -1"""
    order_age: Reals
    """since the work order was opened [100 ticks]"""
    alarm: Flags
    throttled: Flags
    clean: Reals
    """(3, n, 24) what the last inspection of each channel measured"""
    inspected: Wholes
    """since the last inspection [ticks], 100 for longer and never"""
    idle: Flags
    """(n, 6) technicians with nothing to do"""
    at: Wholes
    """(n, 6) station where they are, or left"""
    to: Wholes
    """(n, 6) station where they go, or -1"""
    inspecting: Flags
    """(n, 6) technicians who measure, or are on their way to"""
    stock: Wholes
    """(n, 8) pieces in store"""
    coming: Wholes
    """(n, 8) pieces ordered"""
    time: Reals
    """(n,) share of the shift that is over"""
    may_inspect: Flags
    may_diagnose: Flags
    may_order: Flags
    """(n, 8)"""

    @classmethod
    def of(cls, seen: Reals, masks: Flags) -> Sight:
        """Take observations (n, 632) and masks (n, 545) apart."""
        n = len(seen)
        fields = np.ascontiguousarray(seen[:, :SEEN_CREW].reshape(n, STATIONS, SEEN_STRIDE).transpose(2, 0, 1))
        crew = seen[:, SEEN_CREW:SEEN_PARTS].reshape(n, TECHNICIANS, 4)
        parts = seen[:, SEEN_PARTS:SEEN_LINE].reshape(n, PARTS, 3)
        state = _whole(crew[:, :, 0], 4)
        return cls(
            values=fields[:CHANNELS],
            age=_whole(fields[6], 16),
            scan=fields[8],
            cycle=fields[9],
            panel=_whole(fields[13], 4),
            order=_whole(fields[14], 4),
            claim=_whole(fields[15], 8) - np.int16(1),
            order_age=fields[16],
            alarm=fields[18] > 0,
            throttled=fields[19] > 0,
            clean=fields[20:23],
            inspected=_whole(fields[23], 100),
            idle=state == Crew.IDLE,
            at=_whole(crew[:, :, 1], 24),
            to=_whole(crew[:, :, 2], 24) - np.int16(1),
            inspecting=(state == Crew.TO_INSPECT) | (state == Crew.INSPECT),
            stock=_whole(parts[:, :, 0], 10),
            coming=_whole(parts[:, :, 1], 10),
            time=seen[:, SEEN_LINE],
            may_inspect=masks[:, FIRST_INSPECT:FIRST_DIAGNOSE:CHANNELS],
            may_diagnose=masks[:, FIRST_DIAGNOSE:FIRST_ORDER:CLAIMS],
            may_order=masks[:, FIRST_ORDER : FIRST_DISPATCH : len(ORDER_SIZES)],
        )


def _whole(shares: Reals, unit: int) -> Wholes:
    """Return whole numbers that were divided by ``unit``."""
    return (shares * np.float32(unit) + np.float32(0.5)).astype(np.int16)
