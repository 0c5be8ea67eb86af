"""A station's controller (PLC): its watchdog, and the speed command that is on its way to it."""

from __future__ import annotations

from linegym.plant import NONE, THROTTLED_SPEED, TRIP_DOWN, TRIP_SCAN, TRIP_TICKS


class Controller:
    """What the controller of one station remembers."""

    def __init__(self) -> None:
        self.trip = 0
        """Ticks until the watchdog can trip again."""
        self.throttled = False
        self.throttle_due = NONE
        """Tick when the command under way arrives, or -1."""
        self.throttle_to = False
        """What that command sets."""

    @property
    def has_tripped(self) -> bool:
        """Say whether the watchdog holds the station now."""
        return self.trip > TRIP_DOWN

    @property
    def awaits_command(self) -> bool:
        """Say whether a speed command is under way."""
        return self.throttle_due != NONE

    def command(self, throttle: bool, arrives: int) -> None:
        """Send the speed command that arrives at the tick named."""
        self.throttle_to, self.throttle_due = throttle, arrives

    def tick(self, t: int, scan: float) -> None:
        """Watch the scan time, and obey what has arrived."""
        if self.trip > 0:
            self.trip -= 1
        elif scan > TRIP_SCAN:
            self.trip = TRIP_TICKS
        if self.awaits_command and self.throttle_due <= t:
            self.throttled, self.throttle_due = self.throttle_to, NONE

    def slowed(self, speed: float) -> float:
        """Return ``speed`` as the throttle leaves it."""
        return speed * THROTTLED_SPEED if self.throttled else speed
