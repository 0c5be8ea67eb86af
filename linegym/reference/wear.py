"""Wear: work brings a station nearer to the fault that is planned for it, and a fault grows until it is mended.

Faults come by exposure, not by the clock: a station that stands or goes slowly wears less, so that throttling buys
time.
"""

from __future__ import annotations

from linegym.plant import (
    CERTAIN_SHARE,
    DOMINANT,
    DRIFT_LIMIT,
    DRIFT_RATE,
    EXPOSURE_EFFORT,
    EXPOSURE_REST,
    EXPOSURE_TICK,
    FAULT_ONSET,
    FAULTS,
    FIRST_ONSET,
    NEVER,
    PLANNED_SHARE,
    SEVERITY_RATE,
    Fault,
    Stream,
)
from linegym.reference.blueprint import Channel, Setting
from linegym.reference.chance import Words, uniform
from linegym.reference.ledger import Ledger
from linegym.reference.single import f32


class Wear:
    """Exposure of one station, the fault that it leads to, and the fault that is there.

    Args:
        number: Of the station.
        setting: The episode's.
        primary: The channel that a drifting sensor falsifies.
        certain: Whether this is the station whose first fault is certain.
    """

    def __init__(self, number: int, setting: Setting, primary: Channel, certain: bool) -> None:
        self.number = number
        self._setting = setting
        self._primary = primary
        self._certain = certain
        self.exposure = 0
        self.onset = NEVER
        """Exposure at which the planned fault appears."""
        self.next = Fault.NONE
        """Class of the planned fault."""
        self.sign = 1
        """Way of a drift."""
        self.renewals = 0
        """Faults mended so far."""
        self.fault = Fault.NONE
        self.fault_at = 0
        """Tick when the fault, or the last one, appeared."""
        self.mended_at = 0
        """``fault_at`` of the fault that the last repair mended."""
        self.severity = 0.0
        """0 to 1."""
        self.bias = 0.0
        """Offset of a drifting sensor [unit of the primary quantity]."""
        self._plan()

    def tick(self, t: int, effort: float, ledger: Ledger) -> None:
        """Move on by one tick at ``effort``, 1 being full speed under nominal load."""
        self.exposure += EXPOSURE_REST + int(EXPOSURE_EFFORT * effort)
        if self.fault:
            self._grow()
        elif self.exposure >= self.onset:
            self._appear(t)
            ledger.enter_fault(due=self._setting.is_due(t))

    def mend(self) -> None:
        """Take the fault away; the renewed station gets a plan of its own."""
        self.mended_at = self.fault_at
        self.fault = Fault.NONE
        self.severity = self.bias = 0.0
        self.renewals += 1
        self._plan()

    def _appear(self, t: int) -> None:
        self.fault = self.next
        self.fault_at = t
        self.severity = f32(FAULT_ONSET[self.fault])
        self.bias = 0.0

    def _grow(self) -> None:
        self.severity = f32(self.severity + SEVERITY_RATE * (1 - self.severity))
        if self.fault == Fault.SENSOR_DRIFT:
            scale = self._primary.scale
            limit = DRIFT_LIMIT * scale
            self.bias = f32(max(-limit, min(limit, self.bias + self.sign * DRIFT_RATE * scale)))

    def _plan(self) -> None:
        """Decide which fault comes next, and after how much exposure."""
        words = self._setting.chance.words(Stream.FAULT, self.number, self.renewals)
        certain = self._certain and self.renewals == 0
        self.next = self._planned_class(words, certain)
        self.sign = 1 if words.w3 & 1 else -1
        ticks = self._planned_ticks(words, certain)
        self.onset = NEVER if ticks is None else self.exposure + EXPOSURE_TICK * ticks

    def _planned_ticks(self, words: Words, certain: bool) -> int | None:
        """Return the ordinary ticks until the planned fault, or None where none is planned."""
        probability, horizon = self._setting.blueprint.fault, self._setting.horizon
        if probability < 0 or not (certain or uniform(words.w0) < probability):
            return None
        span = (CERTAIN_SHARE if certain else PLANNED_SHARE) * horizon - FIRST_ONSET
        return FIRST_ONSET + int(uniform(words.w1) * max(0, span))

    def _planned_class(self, words: Words, certain: bool) -> Fault:
        plan = self._setting.blueprint
        if certain or uniform(words.w2) < DOMINANT:
            return plan.dominant
        drawn = 1 + ((words.w2 & 0xFFFF) * FAULTS >> 16)
        return Fault(drawn) if plan.allowed >> drawn & 1 else plan.dominant
