"""The sensors of a station: true values in, readings out, falsified by the sensor law, noise, wander and faults.

The mission's thermocouple law: reading = true value × (1 + 0.02 sin(2 pi t / 60 s) + 0.01 Bernoulli(0.05)); stronger
disturbances scale it and give each station a phase and a period of its own.
"""

from __future__ import annotations

from linegym.plant import (
    CHANNEL_SHIFT,
    HOLD_TICKS,
    SECONDARY_NOISE,
    SINE_ENTRIES,
    SINE_INCREMENT,
    SINE_JITTER,
    WANDER_INCREMENT,
    Fault,
    Stream,
)
from linegym.reference.blueprint import Channel, Setting
from linegym.reference.body import Body
from linegym.reference.chance import Words, normal, sine, uniform
from linegym.reference.single import f32
from linegym.reference.wear import Wear


class Sensors:
    """The three sensors of one station."""

    def __init__(self, number: int, setting: Setting, channels: tuple[Channel, ...]) -> None:
        self.number = number
        self._setting = setting
        self._channels = channels
        self.phase = 0
        """Phase of the sine at tick 0 [table entries]."""
        self.jitter = 0
        """Steps by which the sine's period differs from 60 s."""
        if setting.disturbance.signed:
            words = setting.chance.words(Stream.PHASE, number, 0)
            self.phase = words.w0 * SINE_ENTRIES >> 32
            self.jitter = (words.w1 * 129 >> 32) - 64
        self.hold = 0
        """Ticks for which the primary sensor still repeats itself."""
        self.held = [f32(channel.usual) for channel in channels]
        """Newest readings."""

    def tick(self, t: int, scan: float, body: Body, wear: Wear) -> None:
        """Take new readings."""
        words = self._setting.chance.words(Stream.SENSE, self.number, t)
        if self.hold > 0:
            self.hold -= 1
        elif uniform(words.w3) >= 1 - self._setting.disturbance.hold_p:
            self.hold = HOLD_TICKS
        repeats = self.hold > 0 or wear.fault == Fault.SENSOR_STUCK
        for channel in self._channels:
            if not (channel.number == 0 and repeats):
                self.held[channel.number] = f32(self._reading(t, channel, scan, body, wear, words))

    def _reading(self, t: int, channel: Channel, scan: float, body: Body, wear: Wear, words: Words) -> float:
        laws = self._setting.disturbance
        k, primary = channel.number, channel.number == 0
        reading = body.value(channel.quantity) * self._gain(t, k, words)
        noise = laws.noise + laws.ripple * abs(scan - 1)
        kind = self._setting.blueprint.noise if primary else SECONDARY_NOISE
        reading = reading + noise * kind * channel.scale * normal(words[k])
        start = self.phase * 256 + k * CHANNEL_SHIFT
        reading = reading + laws.wander * channel.scale * sine(start + t * WANDER_INCREMENT)
        return reading + wear.bias if primary else reading

    def _gain(self, t: int, k: int, words: Words) -> float:
        """Return the factor of the sensor law: sine, and on the primary sensor impulses."""
        laws = self._setting.disturbance
        phase = self.phase * 256 + t * (SINE_INCREMENT + self.jitter * SINE_JITTER)
        gain = 1 + laws.sine * sine(phase + k * CHANNEL_SHIFT)
        if k == 0 and uniform(words.w3) < laws.impulse_p:
            return gain - laws.impulse if laws.signed and words.w3 & 1 else gain + laws.impulse
        return gain
