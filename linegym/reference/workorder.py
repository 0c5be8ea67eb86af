"""A work order: a claim about a station, somebody sent to mend it, and the closing that proves the claim.

Its four phases are those of the agent's job: identify (until ``opened``), assess (until ``sent``), dispatch (until
``arrived``), execute (until it is closed).
"""

from __future__ import annotations

from dataclasses import dataclass

from linegym.plant import NONE, Order


@dataclass(slots=True)
class WorkOrder:
    """The work order of one station."""

    state: Order = Order.NONE
    claim: int = NONE
    """Claimed class - 1, or -1."""
    technician: int = NONE
    """Who is on it, or -1."""
    opened: int = 0
    """Tick of the first claim."""
    sent: int = 0
    """Tick when somebody was sent."""
    arrived: int = 0
    """Tick when he arrived."""
    fixed: bool = False
    """Whether the repair mended the fault."""

    def open(self, t: int, claim: int) -> None:
        """Claim a class of fault, or another one, which forgets what a repair for the last has mended."""
        if self.state == Order.NONE:
            self.opened = t
        self.state, self.claim, self.fixed = Order.OPEN, claim, False

    def send(self, t: int, technician: int) -> None:
        """Note who is on the way."""
        self.state, self.technician, self.sent = Order.TRAVEL, technician, t

    def begin_repair(self, t: int) -> None:
        """Note that he has arrived."""
        self.state, self.arrived = Order.REPAIR, t

    def end_repair(self) -> None:
        """Note that he has done what the claim asks for, rightly or not."""
        self.state, self.technician = Order.DONE, NONE

    def end(self) -> None:
        """Put the order away."""
        self.state, self.claim, self.fixed = Order.NONE, NONE, False
