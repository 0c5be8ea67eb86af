"""What the control room knows of a station from the packets that came, and when that raises an alarm."""

from __future__ import annotations

from linegym.plant import (
    ALARM_AGE,
    ALARM_CYCLE,
    ALARM_DOWN,
    ALARM_FLAT,
    ALARM_LEVEL,
    ALARM_SAMPLES,
    ALARM_STOPS,
    GAP_DECAY,
    GAP_LIMIT,
    MUTE_TICKS,
    NONE,
    SMOOTHING,
)
from linegym.reference.blueprint import Channel
from linegym.reference.link import Packet
from linegym.reference.single import f32

_COUNT_MOST = 1000


class Monitor:
    """The control room's picture of one station."""

    def __init__(self, channels: tuple[Channel, ...]) -> None:
        self._channels = channels
        self.last = NONE
        """Tick of the newest delivered packet, -1 before the first."""
        self.seen = [f32(channel.usual) for channel in channels]
        """Newest delivered readings."""
        self.scan = f32(1)
        """Newest reported scan."""
        self.mean = list(self.seen)
        self.variance = [0.0] * len(channels)
        """Exponentially weighted (Finch 2009, *Incremental calculation of weighted mean and variance*, section 9)."""
        self.gap = 0.0
        """Smoothed count of missing packets."""
        self.exceed = 0
        """Exceeding packets in a row."""
        self.flat = 0
        """Packets in a row that repeat the primary reading."""
        self.alarm = False
        self.alarm_at = 0
        """Tick of the last alarm."""
        self.muted = 0
        """Tick until which it stays silent."""

    def take(self, sent: int, packet: Packet) -> None:
        """Take over a packet that was sent at tick ``sent``."""
        missed = min(sent - self.last - 1, GAP_LIMIT)
        self.gap = f32(GAP_DECAY * self.gap + missed)
        repeated = packet.readings[0] == self.seen[0]
        exceeds = False
        for channel, x in zip(self._channels, packet.readings, strict=True):
            self._smooth(channel.number, x)
            exceeds = exceeds or abs(channel.deviation(x)) > ALARM_LEVEL
        self.seen = list(packet.readings)
        self.flat = min(self.flat + 1, _COUNT_MOST) if repeated else 0
        self.exceed = min(self.exceed + 1, _COUNT_MOST) if exceeds else 0
        self.scan = packet.scan
        self.last = sent

    def _smooth(self, k: int, x: float) -> None:
        d = x - self.mean[k]
        self.mean[k] = f32(self.mean[k] + SMOOTHING * d)
        self.variance[k] = f32((1 - SMOOTHING) * (self.variance[k] + SMOOTHING * d * d))

    def watch(self, t: int, cycle: float, still: int) -> None:
        """Latch the alarm when there is a reason; ``cycle`` and ``still`` are the machine's, told by the panel."""
        if self.alarm or t < self.muted:
            return
        self.alarm = (
            self.exceed >= ALARM_SAMPLES
            or self.flat >= ALARM_FLAT
            or t - self.last > ALARM_AGE
            or cycle > ALARM_CYCLE
            or still >= ALARM_DOWN
        )
        if self.alarm:
            self.alarm_at = t

    def has_rung_out(self, t: int) -> bool:
        """Say whether the alarm has gone unanswered for so long that it stops the station."""
        return self.alarm and t - self.alarm_at > ALARM_STOPS

    def clear(self) -> None:
        """Take the alarm back and forget what raised it."""
        self.alarm = False
        self.exceed = self.flat = 0

    def mute(self, t: int) -> None:
        """Keep silent for a while from tick ``t`` on."""
        self.muted = t + MUTE_TICKS
