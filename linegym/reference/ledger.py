"""The books of a shift: what is counted, and what is paid this tick."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Closing(NamedTuple):
    """How a work order went that was closed after a repair; times in ticks."""

    station: int
    right: bool
    identify: int
    """From the fault to the claim; 0 when the repair mended nothing."""
    assess: int
    """From the claim to somebody on his way."""
    dispatch: int
    """From sending to arrival."""
    execute: int
    """From arrival to closing."""


@dataclass(slots=True)
class Ledger:
    """Counters since the start of the episode; ``reward``, ``invalid`` and ``closing`` of the current tick."""

    reward: float = 0.0
    invalid: bool = False
    closing: Closing | None = None
    output: int = 0
    faults: int = 0
    faults_due: int = 0
    """Faults that appeared early enough to count for success."""
    closed: int = 0
    """Work orders closed rightly."""
    closed_due: int = 0
    """Of them, in time and of faults that count."""
    wrong: int = 0
    """Work orders closed in vain, and real faults dismissed."""
    late: int = 0
    over: bool = False
    success: bool = False

    def begin_tick(self) -> None:
        """Start a tick: nothing is paid yet, nothing closed, no command refused."""
        self.reward = 0.0
        self.invalid = False
        self.closing = None

    def charge(self, amount: float) -> None:
        """Take ``amount`` from this tick's reward."""
        self.reward -= amount

    def enter_fault(self, due: bool) -> None:
        """Count a fault that has just appeared."""
        self.faults += 1
        self.faults_due += due
