"""The link of a station: every tick it sends a packet of readings, which comes late, out of order, or not at all.

A lost packet is sent again after a time-out that doubles with every loss (RFC 6298, section 5.5); the station's newest
six packets can be under way at once.
"""

from __future__ import annotations

from typing import NamedTuple

from linegym.plant import CHANNELS, CYCLE_MS, NONE, PACKETS, RTO_CAP_MS, TICK_MS, Fault, Stream
from linegym.reference.blueprint import Setting
from linegym.reference.chance import poisson, uniform
from linegym.reference.single import f32
from linegym.reference.switch import Switch

_CYCLES_MOST = 12
"""Longest wait at the gateway [gateway cycles]."""


class Packet(NamedTuple):
    """What a station tells."""

    readings: tuple[float, ...]  # (CHANNELS,)
    scan: float


_BLANK = Packet((0.0,) * CHANNELS, 0.0)


class Link:
    """The link between one station and the control room."""

    def __init__(self, number: int, setting: Setting, switch: Switch) -> None:
        self.number = number
        self._setting = setting
        self.switch = switch
        self.rto = 0
        """Time-out in force [ms]; 0 while nothing is lost."""
        self.due = [NONE] * PACKETS
        """Tick when the packet in each slot arrives, or -1."""
        self.packets = [_BLANK] * PACKETS

    @property
    def command_delay(self) -> int:
        """How long a command to the station takes now [ticks]."""
        return min(10, (self.switch.queueing_ms + self.rto) // TICK_MS)

    def send(self, t: int, readings: list[float], scan: float, fault: Fault) -> None:
        """Send this tick's readings, unless the controller's own communication has failed."""
        slot = t % PACKETS
        self.due[slot] = NONE
        if fault == Fault.PLC_COMM:
            return
        laws = self._setting.disturbance
        words = self._setting.chance.words(Stream.LINK, self.number, t)
        if uniform(words.w0) >= self.switch.loss:
            self.rto = 0
        elif self.rto > 0:
            self.rto = min(2 * self.rto, RTO_CAP_MS)
        else:
            self.rto = self.switch.first_timeout
        gateway_ms = poisson(words.w1, laws.latency, laws.exp_latency, _CYCLES_MOST) * CYCLE_MS
        late = (gateway_ms + self.switch.queueing_ms + self.rto) // TICK_MS
        if late < PACKETS:
            self.due[slot] = t + late
            self.packets[slot] = Packet(tuple(readings), f32(scan))

    def receive(self, t: int, last: int) -> tuple[int, Packet] | None:
        """Return the newest packet that has arrived and is newer than tick ``last``, with the tick it was sent."""
        for sent in range(t, max(t - PACKETS, last, -1), -1):
            if 0 <= self.due[sent % PACKETS] <= t:
                return sent, self.packets[sent % PACKETS]
        return None
