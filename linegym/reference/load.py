"""How busy the controllers are: the scan time of the whole line against nominal.

An autoregressive offset of second order (the mission's law), a periodic load, and spikes that hit some stations.
"""

from __future__ import annotations

from linegym.plant import AR_1, AR_2, PERIODIC_INCREMENT, SCAN_HIGH, SCAN_LOW, SPIKE_SHORTEST, Stream
from linegym.reference.blueprint import Setting
from linegym.reference.chance import normal, sine, uniform
from linegym.reference.single import f32


def limited(scan: float) -> float:
    """Return ``scan`` within what a controller can show."""
    return max(SCAN_LOW, min(SCAN_HIGH, scan))


class Load:
    """The common load of all controllers."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self.ar1 = self.ar2 = 0.0
        """The offset one and two ticks ago."""
        self.scan = 1.0
        """Scan time against nominal."""
        self.spike = 0
        """Ticks left of a spike."""
        self.spike_mask = 0
        """Bit ``s``: the spike, or the last one, is for station ``s``."""

    def tick(self, t: int) -> None:
        """Move on by one tick."""
        laws = self._setting.disturbance
        words = self._setting.chance.words(Stream.LOAD, 0, t)
        offset = AR_1 * self.ar1 + AR_2 * self.ar2 + laws.ar * normal(words.w0)
        self.ar1, self.ar2 = f32(offset), self.ar1
        if self.spike > 0:
            self.spike -= 1
        elif uniform(words.w1) < laws.spike_p:
            self.spike = SPIKE_SHORTEST + (words.w2 >> 28)
            self.spike_mask = words.w3 & 0xFF_FFFF
        self.scan = f32(limited(1 + offset + laws.periodic * sine(t * PERIODIC_INCREMENT)))

    def scan_of(self, station: int, nominal: float) -> float:
        """Return the scan time of one controller whose own nominal scan is ``nominal``."""
        scan = self.scan * nominal
        if self.spike > 0 and self.spike_mask >> station & 1:
            scan = scan + self._setting.disturbance.spike
        return limited(scan)
