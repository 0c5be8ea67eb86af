"""What technicians measured by hand: clean of sensor, network and load, but old as soon as it is there."""

from __future__ import annotations

from linegym.plant import CHANNELS, INSPECTED_FOR, NONE
from linegym.reference.blueprint import Channel
from linegym.reference.body import Body
from linegym.reference.single import f32


class Inspection:
    """The results of the last inspections of one station."""

    def __init__(self) -> None:
        self.at = NONE
        """Tick of the last one, or -1."""
        self.clean = [0.0] * CHANNELS
        """What the last inspection of each channel measured, normalised."""

    def note(self, t: int, channel: Channel, body: Body) -> None:
        """Write down the true value of a channel."""
        self.clean[channel.number] = f32(channel.deviation(body.value(channel.quantity)))
        self.at = t

    def is_recent(self, t: int) -> bool:
        """Say whether the last one allows a work order without an alarm."""
        return self.at >= 0 and t - self.at <= INSPECTED_FOR
