"""A network that delays and loses what is sent: shared by what is seen and what is done."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Self, SupportsIndex

from rolf_wrappers.parameters import rung, within
from rolf_wrappers.streams import Streams

MECHANISMS = ("channel", "loss", "latency")
"""Names of the generators that a link draws from."""
LONGEST = 1000
"""Longest latency [steps]; the search for it must end where sums of probabilities stay below a draw."""
LATENCY = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
TO_BAD = (0.0, 0.01, 0.02, 0.04, 0.06, 0.1, 0.14, 0.18)
TO_GOOD = (1.0, 0.5, 0.4, 0.33, 0.25, 0.2, 0.16, 0.125)


@dataclass(frozen=True, slots=True)
class Network:
    """Latency and bursts of loss, in steps of the environment.

    Latency is Poisson. The channel is good or bad, and each has its share of loss (Gilbert 1960, Elliott 1963, Bell
    System Technical Journal 39 and 42): losses come in bursts of ``1 / to_good`` steps on average.
    """

    latency: float = 0.25
    """Mean latency [steps]."""
    to_bad: float = 0.01
    """Probability that a good channel turns bad, a step."""
    to_good: float = 0.5
    """Probability that a bad channel turns good, a step."""
    loss_bad: float = 0.8
    """Probability that what is sent through a bad channel is lost."""
    loss_good: float = 0.0
    """Probability that what is sent through a good channel is lost."""

    def __post_init__(self) -> None:
        within(self, 0.0, 100.0, "latency")
        within(self, 0.0, 1.0, "to_bad", "to_good", "loss_bad", "loss_good")

    @property
    def loss(self) -> float:
        """Probability of loss in the long run."""
        if self.to_bad == 0.0:
            return self.loss_good
        bad = self.to_bad / (self.to_bad + self.to_good)
        return bad * self.loss_bad + (1 - bad) * self.loss_good

    @classmethod
    def at(cls, intensity: SupportsIndex) -> Self:
        """Return the network at an intensity from 0 (off) to 7.

        Loss in the long run is 0, 2, 4, 9, 15, 27, 37, 47 %.
        """
        return cls(rung(intensity, LATENCY), rung(intensity, TO_BAD), rung(intensity, TO_GOOD))


class Packet(NamedTuple):
    """What is under way, or has arrived."""

    due: int
    """Step at which it arrives."""
    sent: int
    """Step at which it was sent."""
    content: Any


class Link:
    """One direction of a network: takes one packet a step, and hands over the newest that has arrived.

    A packet that arrives after a newer one is of no use any more and is thrown away.
    """

    def __init__(self, network: Network, streams: Streams) -> None:
        self._network, self._streams = network, streams
        self.restart()

    def restart(self) -> None:
        """Begin an episode at step 0: nothing is under way, the channel is good."""
        self.step = 0
        self._bad = False
        self._under_way: list[Packet] = []

    def carry(self, content: Any) -> Packet | None:
        """Send the packet of the next step, and return the newest that arrives in it, if any does."""
        self.step += 1
        network, streams = self._network, self._streams
        turn = streams["channel"].random()
        self._bad = turn >= network.to_good if self._bad else turn < network.to_bad
        lost = streams["loss"].random() < (network.loss_bad if self._bad else network.loss_good)
        latency = poisson(streams["latency"].random(), network.latency)
        if not lost:
            self._under_way.append(Packet(self.step + latency, self.step, copy.deepcopy(content)))
        arrived = [packet for packet in self._under_way if packet.due <= self.step]
        if not arrived:
            return None
        newest = arrived[-1]
        self._under_way = [packet for packet in self._under_way if packet.sent > newest.sent]
        return newest


def poisson(chance: float, mean: float) -> int:
    """Return the Poisson number at this place of its distribution.

    One draw a packet, and the same draw under a larger mean is never a smaller number: that is what makes runs with
    two latencies comparable packet by packet.
    """
    probability = below = math.exp(-mean)
    number = 0
    while chance > below and number < LONGEST:
        number += 1
        probability *= mean / number
        below += probability
    return number
