"""Tally: what is counted over a whole shift and told at its end, because no single step tells it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linegym.layout import FACT_CLOSED_STATION, FACTS
from linegym.plant import CLAIM_DISTURBANCE, Fault, Verb

KEY = "shift"
"""Where it stands in the last step's ``info``."""
COUNTED = (
    "invalid",  # commands that were not possible
    "claims",  # fault classes that were claimed of a station
    "claims_right",  # of them, those that the station had just then
    "dismissals",  # alarms that were said to be none
    "dismissals_right",  # of them, those of stations without a fault
    "orders",  # work orders closed after a repair
    "identify",  # phases of these orders, all together [ticks]; of orders closed in vain this one counts nothing
    "assess",
    "dispatch",
    "execute",
)
"""What is counted, in this order."""
_INVALID, _CLAIMS, _DISMISSALS, _ORDERS = (
    COUNTED.index(name) for name in ("invalid", "claims", "dismissals", "orders")
)
_FACT_INVALID, _PHASES = FACTS.index("invalid"), slice(FACTS.index("identify"), FACTS.index("execute") + 1)


class Tally:
    """Counts for many lines at once.

    A claim is right if the station has that fault at the moment of the claim. It counts each time that it is made, so
    that who tries one class after the other until something is mended has a poor precision.

    Args:
        rows: How many lines.
    """

    def __init__(self, rows: int) -> None:
        self.counts = np.zeros((rows, len(COUNTED)), np.int64)
        """(rows, len(COUNTED))"""

    def note(self, commands: NDArray[np.int32], faults: NDArray[np.int16], facts: NDArray[np.int32]) -> None:
        """Count a step.

        Args:
            commands: (rows, 3) verb, station and argument.
            faults: (rows, 24) true fault classes before the step.
            facts: (rows, len(FACTS)) what the step told.
        """
        impossible = facts[:, _FACT_INVALID] != 0
        self.counts[:, _INVALID] += impossible
        rows = np.flatnonzero((commands[:, 0] == Verb.DIAGNOSE) & ~impossible)
        if rows.size:
            claims, found = commands[rows, 2], faults[rows, commands[rows, 1]]
            dismissed = claims >= CLAIM_DISTURBANCE
            right = np.where(dismissed, found == Fault.NONE, found == claims + 1)
            column = np.where(dismissed, _DISMISSALS, _CLAIMS)
            self.counts[rows, column] += 1
            self.counts[rows, column + 1] += right
        rows = np.flatnonzero(facts[:, FACT_CLOSED_STATION] >= 0)
        if rows.size:
            self.counts[rows, _ORDERS] += 1
            self.counts[rows, _ORDERS + 1 :] += facts[rows, _PHASES]

    def told(self, row: int = 0) -> dict[str, Any]:
        """Return the counts of a line by name."""
        return dict(zip(COUNTED, self.counts[row].tolist(), strict=True))
