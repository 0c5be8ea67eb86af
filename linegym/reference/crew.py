"""The crew: six technicians who walk to a station, and inspect or repair it."""

from __future__ import annotations

from linegym.plant import INSPECTION_TICKS, NONE, REPAIR_TICKS, REWARD_TRAVEL, SKILL_TICKS, Crew, Fault
from linegym.reference.blueprint import Blueprint
from linegym.reference.ledger import Ledger
from linegym.reference.station import Station


class Technician:
    """One of the crew.

    Args:
        number: 0 is quickest at repairs, then 3; 2 and 5 are slowest.
        at: Station where he is.
        blueprint: With the travel times.
    """

    def __init__(self, number: int, at: int, blueprint: Blueprint) -> None:
        self.number = number
        self.at = at
        self._travel = blueprint.travel
        self.state = Crew.IDLE
        self.to = NONE
        """Station where he is wanted, or -1."""
        self.timer = 0
        """Ticks until he is there, or has done."""
        self.channel = 0
        """Which sensor he inspects."""

    @property
    def is_idle(self) -> bool:
        """Say whether he can be sent."""
        return self.state == Crew.IDLE

    @property
    def is_on_the_way(self) -> bool:
        """Say whether he walks."""
        return self.state in (Crew.TO_REPAIR, Crew.TO_INSPECT)

    def way_to(self, station: int) -> int:
        """Return how long he would walk [ticks]."""
        return self._travel[self.at][station]

    def send_to_inspect(self, station: Station, channel: int) -> None:
        """Send him to measure a channel by hand."""
        self.channel = channel
        self._send(Crew.TO_INSPECT, station)

    def send_to_repair(self, station: Station) -> None:
        """Send him to mend what the work order claims."""
        self._send(Crew.TO_REPAIR, station)

    def _send(self, state: Crew, station: Station) -> None:
        """Set out, as soon as the call has come through the station's network."""
        self.state = state
        self.to = station.number
        self.timer = self.way_to(station.number) + 1 + station.link.command_delay

    def tick(self, t: int, stations: list[Station], ledger: Ledger) -> None:
        """Move on by one tick."""
        if self.is_idle:
            return
        self.timer -= 1
        if self.is_on_the_way:
            ledger.charge(REWARD_TRAVEL)
        if self.timer > 0:
            return
        station = stations[self.to]
        if self.state == Crew.TO_REPAIR:
            self._begin_repair(t, station)
        elif self.state == Crew.REPAIR:
            self._end_repair(station)
        elif self.state == Crew.TO_INSPECT:
            self._begin_inspection(station)
        else:
            self._end_inspection(t, station)

    def _begin_repair(self, t: int, station: Station) -> None:
        self.at, self.state = station.number, Crew.REPAIR
        self.timer = REPAIR_TICKS[station.order.claim] + SKILL_TICKS * (self.number % 3)
        station.order.begin_repair(t)

    def _end_repair(self, station: Station) -> None:
        """Do what the claim asks for; it mends the fault if the claim was right."""
        if station.wear.fault == Fault(station.order.claim + 1):
            station.wear.mend()
            station.machine.cycle = 1.0
            station.order.fixed = True
        station.order.end_repair()
        self._rest()

    def _begin_inspection(self, station: Station) -> None:
        self.at, self.state, self.timer = station.number, Crew.INSPECT, INSPECTION_TICKS

    def _end_inspection(self, t: int, station: Station) -> None:
        station.inspection.note(t, station.channels[self.channel], station.body)
        self._rest()

    def _rest(self) -> None:
        self.state, self.to = Crew.IDLE, NONE
