"""A network switch: the six stations on it share its queue and its bad moments.

Burst loss by two states (Gilbert 1960, Elliott 1963), Poisson traffic of others, and the round-trip time as a sender
estimates it (RFC 6298, section 2; no samples while packets are sent again: Karn and Partridge 1987).
"""

from __future__ import annotations

from linegym.plant import (
    BACKLOG_LIMIT,
    LOAD_MESSAGES,
    MESSAGES,
    RTO_FLOOR_MS,
    RTTVAR_GAIN,
    SRTT_GAIN,
    TICK_MS,
    Stream,
)
from linegym.reference.blueprint import Setting
from linegym.reference.chance import poisson, uniform
from linegym.reference.single import f32

_BURST = 32
"""Most messages of others that arrive in one tick."""


class Switch:
    """One of the line's switches."""

    def __init__(self, number: int, setting: Setting) -> None:
        self.number = number
        self._setting = setting
        self.bad = False
        """Whether it loses packets in bursts now."""
        self.backlog = 0
        """Messages that wait."""
        self.srtt = f32(setting.disturbance.rtt)
        """Smoothed round-trip time [ms]."""
        self.rttvar = f32(setting.disturbance.rtt * 0.5)
        """Smoothed deviation of it [ms]."""

    @property
    def queueing_ms(self) -> int:
        """Time that a message waits in its queue [ms]."""
        return self.backlog * TICK_MS // MESSAGES

    @property
    def loss(self) -> float:
        """Probability that it loses a packet now."""
        laws = self._setting.disturbance
        return laws.loss_bad if self.bad else laws.loss_good

    @property
    def first_timeout(self) -> int:
        """Time after which a lost packet is sent again for the first time [ms]."""
        return int(max(RTO_FLOOR_MS, self.srtt + 4 * self.rttvar))

    def tick(self, t: int, scan: float) -> None:
        """Move on by one tick; busy controllers (``scan`` above 1) send more messages."""
        laws = self._setting.disturbance
        words = self._setting.chance.words(Stream.SWITCH, self.number, t)
        if self.bad:
            self.bad = not uniform(words.w1) < laws.to_good
        else:
            self.bad = uniform(words.w1) < laws.to_bad
        messages = poisson(words.w0, laws.arrivals, laws.exp_arrivals, _BURST)
        if scan > 1:
            messages += int(LOAD_MESSAGES * (scan - 1))
        self.backlog = max(0, min(BACKLOG_LIMIT, self.backlog + messages - MESSAGES))
        if not self.bad:
            self._sample(laws.rtt + self.backlog * (TICK_MS / MESSAGES))

    def _sample(self, rtt: float) -> None:
        self.rttvar = f32(self.rttvar + RTTVAR_GAIN * (abs(self.srtt - rtt) - self.rttvar))
        self.srtt = f32(self.srtt + SRTT_GAIN * (rtt - self.srtt))
