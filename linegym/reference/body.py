"""The body of a station: its true temperature, vibration, current, and pressure or speed.

Each is a first-order lag towards a target that effort and the fault set; a fault moves several quantities together,
which is what tells it from a sensor that lies (Isermann, *Fault-Diagnosis Systems*, 2006, chapter 2).
"""

from __future__ import annotations

from linegym.plant import (
    CURRENT_EFFORT,
    CURRENT_IDLE,
    FAULT_CURRENT,
    FAULT_DERATE,
    FAULT_PRESSURE,
    FAULT_TEMPERATURE,
    FAULT_VIBRATION,
    HEAT,
    HOT,
    LAG,
    PRESSURE_EFFORT,
    PRESSURE_IDLE,
    VIBRATION_EFFORT,
    VIBRATION_IDLE,
    Quantity,
)
from linegym.reference.controller import Controller
from linegym.reference.single import f32
from linegym.reference.wear import Wear


class Body:
    """True quantities of one station.

    Args:
        base: Temperature at rest [°C].
        primary: What channel 0 measures; pressure and speed exist only where they are measured.
    """

    def __init__(self, base: float, primary: Quantity) -> None:
        self.base = base
        self.primary = primary
        self.temperature = f32(base)
        """[°C]."""
        self.vibration = f32(VIBRATION_IDLE)
        """[mm/s]."""
        self.current = f32(CURRENT_IDLE)
        """Per rated current."""
        self.aux = f32(PRESSURE_IDLE) if primary == Quantity.PRESSURE else 0.0
        """Pressure [bar] or speed [%]; 0 where neither is measured."""

    def value(self, quantity: Quantity) -> float:
        """Return the true value of a quantity [its unit]."""
        return (self.temperature, self.vibration, self.current, self.aux, self.aux)[quantity]

    @property
    def is_hot(self) -> bool:
        """Say whether an overheated station stops."""
        return self.temperature > HOT

    def tick(self, running: bool, effort: float, scan: float, wear: Wear, controller: Controller) -> None:
        """Move every quantity towards its target."""
        c, sev = wear.fault, wear.severity
        self.temperature = _lag(
            Quantity.TEMPERATURE, self.temperature, self.base + HEAT * effort + FAULT_TEMPERATURE[c] * sev
        )
        shaking = FAULT_VIBRATION[c] * sev * (0.25 + 0.75 * running)
        self.vibration = _lag(Quantity.VIBRATION, self.vibration, VIBRATION_IDLE + VIBRATION_EFFORT * effort + shaking)
        self.current = _lag(
            Quantity.CURRENT, self.current, CURRENT_IDLE + CURRENT_EFFORT * effort + FAULT_CURRENT[c] * sev
        )
        if self.primary == Quantity.PRESSURE:
            pressure = PRESSURE_IDLE - PRESSURE_EFFORT * effort - FAULT_PRESSURE[c] * sev
            self.aux = _lag(Quantity.PRESSURE, self.aux, pressure)
        elif self.primary == Quantity.SPEED:
            speed = controller.slowed(100 * running * (1 - FAULT_DERATE[c] * sev) / max(1, scan))
            self.aux = _lag(Quantity.SPEED, self.aux, speed)


def _lag(quantity: Quantity, x: float, target: float) -> float:
    return f32(x + LAG[quantity] * (target - x))
