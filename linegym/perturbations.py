"""What disturbs a line: its sensors, its network, its load, each on a ladder of intensities.

Intensity 0 is the nuisance that every line lives with, small but not nothing; 1 to 5 are the benchmark; 6 and 7 go
beyond it. An instance without arguments is the family switched off altogether. The laws, operation by operation:
``docs/reference/plant.md``. Each mechanism draws from a stream of its own, so to switch one off leaves every other
number as it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Context, Decimal
from math import inf, sqrt
from numbers import Real
from typing import Self

import numpy as np
from numpy.typing import NDArray

from linegym import layout
from linegym.errors import PerturbationError
from linegym.plant import MESSAGES

INTENSITIES = 8
"""Rungs of each ladder, 0 to 7."""
BENCHMARK = range(1, 6)
"""The intensities of the benchmark."""

Ladder = Mapping[str, tuple[float, ...]]

SENSOR: Ladder = {
    "sine": (0.005, 0.02, 0.04, 0.06, 0.08, 0.10, 0.12, 0.14),
    "impulse": (0.0025, 0.01, 0.04, 0.08, 0.16, 0.32, 0.64, 1.0),
    "impulse_p": (0.05,) * INTENSITIES,
    "signed": (0, 0, 1, 1, 1, 1, 1, 1),
    "noise": (0.15, 0.25, 1.0, 1.65, 2.9, 5.0, 6.5, 8.0),
    "wander": (0.0, 0.0, 0.9, 1.5, 2.9, 5.0, 6.5, 8.0),
    "hold_p": (0.0, 0.0, 0.01, 0.03, 0.055, 0.09, 0.13, 0.18),
}
NETWORK: Ladder = {
    "utilisation": (0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.97, 0.98),
    "latency": (0.1, 0.3, 0.6, 1.0, 1.6, 2.4, 3.4, 4.6),
    "to_bad": (0.002, 0.004, 0.015, 0.018, 0.021, 0.024, 0.028, 0.033),
    "to_good": (0.6, 0.5, 0.028, 0.023, 0.0145, 0.0108, 0.008, 0.006),
    "loss_bad": (0.8, 0.8, 0.97, 0.98, 0.985, 0.99, 0.99, 0.99),
    "loss_good": (0.001,) * INTENSITIES,
    "rtt": (3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 150.0, 200.0),
    "snr": (30.0, 30.0, 20.0, 10.0, 3.0, 0.0, -3.0, -6.0),
}
LOAD: Ladder = {
    "ar": (0.02, 0.05, 0.07, 0.09, 0.11, 0.13, 0.16, 0.2),
    "periodic": (0.0, 0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3),
    "spike_p": (0.0005, 0.002, 0.02, 0.045, 0.065, 0.1, 0.14, 0.2),
    "spike": (0.1, 0.3, 0.75, 1.1, 1.4, 1.8, 2.1, 2.4),
    "ripple": (0.0, 0.0, 2.0, 4.5, 7.5, 13.5, 21.0, 30.0),
}

BANDWIDTH = 20e6
"""Of the plant's radio channel [Hz]: one Wi-Fi channel."""
SEGMENT = 1460
"""TCP payload of an Ethernet frame: 1500 bytes less two headers of 20 [byte]."""
WINDOW = 65_535
"""Largest TCP window without scaling: RFC 9293, section 3.1 [byte]."""
MATHIS = 1.22
"""Mathis, Semke, Mahdavi, Ott: The macroscopic behavior of the TCP congestion avoidance algorithm. CCR 27(3), 1997."""

_EXACT = Context(prec=50)
"""Its exp and ln are correctly rounded on every machine; those of a mathematical library are not."""


def _in(low: float, high: float, default: float, *, whole: bool = False) -> float:
    """Return a dataclass field whose value must lie within ``low`` and ``high``."""
    made: float = field(default=default, metadata={"range": (low, high), "whole": whole})
    return made


def _exp_minus(mean: float) -> float:
    return float(_EXACT.exp(Decimal(-mean)))


class _Ladder:
    """What the three families share: the check of their fields."""

    __slots__ = ()

    def __post_init__(self) -> None:
        for name, described in self.__dataclass_fields__.items():  # type: ignore[attr-defined]
            value, (low, high), whole = getattr(self, name), described.metadata["range"], described.metadata["whole"]
            number = isinstance(value, Real) and (whole or not isinstance(value, bool))
            if not number or not low <= value <= high or (whole and value != int(value)):
                expected = f"{low:g} or {high:g}" if whole else f"{low:g} … {high:g}"
                raise PerturbationError(f"{type(self).__name__}: {name} = {value!r}, expected {expected}")
            object.__setattr__(self, name, float(value))


def _rung(ladder: Ladder, intensity: int) -> dict[str, float]:
    """Return the parameters of an intensity.

    Raises:
        PerturbationError: there is no such intensity.
    """
    if isinstance(intensity, bool) or not isinstance(intensity, int | np.integer):
        raise PerturbationError(f"intensity {intensity!r} is no whole number; expected 0 … {INTENSITIES - 1}")
    if not 0 <= intensity < INTENSITIES:
        raise PerturbationError(
            f"intensity {intensity!r} is out of range; expected 0 (nuisance), 1 … 5 (benchmark), 6 or 7 (beyond)"
        )
    return {name: values[intensity] for name, values in ladder.items()}


@dataclass(frozen=True, slots=True)
class SensorPerturbation(_Ladder):
    """Readings that are not the truth: ``true × (1 + sine·sin(2πt/60 s) + impulse·Bernoulli(impulse_p))`` and more.

    At intensity 1 this is the mission's thermocouple law to the letter: 2 % sine of period 60 s and phase 0, impulses
    of +1 % with probability 0.05. Shares are of the value in the channel's own unit: a temperature of 60 °C counts as
    60, so that 2 % are 1.2 °C. From 2 on each station has its own phase and a period off by up to 10 %, and impulses
    go both ways: a sine that every sensor shares would be a notch filter away.
    """

    sine: float = _in(0, 1, 0)
    """Amplitude of the sine [share of the value]."""
    impulse: float = _in(0, 1, 0)
    """Height of an impulse [share of the value]."""
    impulse_p: float = _in(0, 1, 0)
    """Probability of an impulse [per sample]."""
    signed: float = _in(0, 1, 0, whole=True)
    """1: impulses of both signs, own phase and period a station; 0: the mission's law."""
    noise: float = _in(0, 100, 0)
    """Standard deviation of Gaussian noise [normalised units of the channel: ``plant.SCALE``]."""
    wander: float = _in(0, 100, 0)
    """Amplitude of a slow wander of period 32 minutes [normalised units]."""
    hold_p: float = _in(0, 1, 0)
    """Probability that the primary sensor repeats itself for ``plant.HOLD_TICKS`` [per sample]."""

    @classmethod
    def at(cls, intensity: int) -> Self:
        """Return the sensors of an intensity, 0 to 7."""
        return cls(**_rung(SENSOR, intensity))


@dataclass(frozen=True, slots=True)
class NetworkPerturbation(_Ladder):
    """Messages that come late, or not at all.

    Loss comes in bursts (Gilbert 1960, Elliott 1963: a good and a bad state); a lost message is sent again after the
    time-out of RFC 6298, doubled each time. What waits at a switch is a queue that serves ``plant.MESSAGES`` a tick.
    The load offered is a share of the *throughput*, which is itself the least of three laws, see ``throughput``. So
    every intensity leaves room to serve what arrives, and the delay rises on a slope instead of falling off a cliff.
    """

    utilisation: float = _in(0, 0.999, 0)
    """Load offered [share of the throughput]."""
    latency: float = _in(0, 8, 0)
    """Mean of the Poisson latency of a gateway [cycles of ``plant.CYCLE_MS``]."""
    to_bad: float = _in(0, 1, 0)
    """Probability that a burst of losses begins [per tick and switch]."""
    to_good: float = _in(0, 1, 1)
    """Probability that it ends [per tick]."""
    loss_bad: float = _in(0, 1, 0)
    """Probability of loss within a burst [per message]."""
    loss_good: float = _in(0, 1, 0)
    """Probability of loss outside [per message]."""
    rtt: float = _in(0.1, 10_000, 1)
    """Round-trip time of an idle network [ms]."""
    snr: float = _in(-20, 60, 30)
    """Ratio of signal to noise on the radio channel [dB]. It sets the capacity; as the load offered follows what the
    network carries, it changes the figures in bit/s and no episode."""

    @classmethod
    def at(cls, intensity: int) -> Self:
        """Return the network of an intensity, 0 to 7."""
        return cls(**_rung(NETWORK, intensity))

    def over(self, factor: float) -> Self:
        """Return the same network under a protocol that takes ``factor`` times the round trips and gateway cycles."""
        return replace(self, latency=self.latency * factor, rtt=self.rtt * factor)

    @property
    def arrivals(self) -> float:
        """Messages that a switch is handed [per tick]: the utilised share of what it can pass on."""
        return self.utilisation * MESSAGES

    @property
    def loss(self) -> float:
        """Share of messages lost in the long run."""
        bad = self.to_bad / (self.to_bad + self.to_good) if self.to_bad else 0.0
        return bad * self.loss_bad + (1 - bad) * self.loss_good

    @property
    def capacity(self) -> float:
        """Most that the channel can carry, ``B·log2(1 + S/N)`` [bit/s] (Shannon 1948, theorem 17)."""
        ratio = _EXACT.power(10, Decimal(self.snr) / 10)
        return float(Decimal(BANDWIDTH) * _EXACT.ln(1 + ratio) / _EXACT.ln(Decimal(2)))

    @property
    def window_rate(self) -> float:
        """Most that one full window a round trip carries [bit/s]."""
        return 8 * WINDOW / (self.rtt / 1000)

    @property
    def loss_rate(self) -> float:
        """Most that TCP reaches under this loss, ``1.22·MSS/(RTT·√loss)`` [bit/s]; infinite without loss."""
        if self.loss == 0:
            return inf
        return MATHIS * 8 * SEGMENT / (self.rtt / 1000 * sqrt(self.loss))

    @property
    def throughput(self) -> float:
        """What the network carries: the least of capacity, window rate and loss rate [bit/s]."""
        return min(self.capacity, self.window_rate, self.loss_rate)

    @property
    def offered(self) -> float:
        """What is sent: the utilised share of the throughput [bit/s]."""
        return self.utilisation * self.throughput


@dataclass(frozen=True, slots=True)
class LoadPerturbation(_Ladder):
    """Controllers that take longer for a scan: ``ΔT_n = 0.7·ΔT_{n-1} + 0.2·ΔT_{n-2} + ε``, ``ε ~ N(0, ar)``, and more.

    At intensity 1, ``ar`` is the mission's 0.05, read as a standard deviation: ΔT then has one of 0.105. (Read as a
    variance, one scan in sixty would take negative time.) A longer scan slows its station, heats it, makes it send
    more, and beyond ``plant.TRIP_SCAN`` its watchdog stops it.
    """

    ar: float = _in(0, 2, 0)
    """Standard deviation of ε [nominal scan times]."""
    periodic: float = _in(0, 2, 0)
    """Amplitude of a load of period 48 ticks that all stations share [nominal scan times]."""
    spike_p: float = _in(0, 1, 0)
    """Probability that a spike begins [per tick]; it lasts 5 to 20 ticks and meets each station with probability ½."""
    spike: float = _in(0, 4, 0)
    """Height of a spike [nominal scan times]."""
    ripple: float = _in(0, 100, 0)
    """Sensor noise that each nominal scan time off nominal adds: currents ripple [normalised units]."""

    @classmethod
    def at(cls, intensity: int) -> Self:
        """Return the load of an intensity, 0 to 7."""
        return cls(**_rung(LOAD, intensity))


@dataclass(frozen=True, slots=True)
class Perturbations:
    """All that disturbs a line: the three families together."""

    sensor: SensorPerturbation = SensorPerturbation()
    network: NetworkPerturbation = NetworkPerturbation()
    load: LoadPerturbation = LoadPerturbation()

    def row(self, target: float) -> NDArray[np.float64]:  # (V_ROW,)
        """Return the parameters as the kernel reads them, with the output that success needs [parts]."""
        sensor, network, load = self.sensor, self.network, self.load
        row = np.zeros(layout.V_ROW)
        row[layout.V_SINE : layout.V_HOLD_P + 1] = [getattr(sensor, name) for name in SENSOR]
        row[layout.V_ARRIVALS], row[layout.V_EXP_ARRIVALS] = network.arrivals, _exp_minus(network.arrivals)
        row[layout.V_LATENCY], row[layout.V_EXP_LATENCY] = network.latency, _exp_minus(network.latency)
        row[layout.V_TO_BAD : layout.V_LOSS_GOOD + 1] = [
            network.to_bad,
            network.to_good,
            network.loss_bad,
            network.loss_good,
        ]
        row[layout.V_RTT] = network.rtt
        row[layout.V_AR : layout.V_RIPPLE + 1] = [getattr(load, name) for name in LOAD]
        row[layout.V_TARGET] = target
        return row
