"""Reacting to alarms alone: the largest deviation names the fault."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linegym import layout
from linegym.plant import CHANNELS, Fault, Order, Quantity
from linegym.policies.desk import Wishes, standing
from linegym.policies.policy import Infos, Lineup, Rows
from linegym.policies.sight import Sight

HIGH = {
    Quantity.TEMPERATURE: Fault.OVERHEAT,
    Quantity.VIBRATION: Fault.BEARING,
    Quantity.CURRENT: Fault.TOOL_WEAR,
    Quantity.PRESSURE: Fault.SENSOR_DRIFT,
    Quantity.SPEED: Fault.TOOL_WEAR,
}
"""What a quantity far above its usual value is taken for."""
LOW = {
    Quantity.TEMPERATURE: Fault.SENSOR_DRIFT,
    Quantity.VIBRATION: Fault.SENSOR_DRIFT,
    Quantity.CURRENT: Fault.PLC_COMM,
    Quantity.PRESSURE: Fault.LEAK,
    Quantity.SPEED: Fault.JAM,
}
"""And far below."""
LEVEL = 2.0
"""Deviation from which it counts [usual spread]; with less, the age of the sample decides."""
OLD = 12
"""Age from which the controller is taken to be silent [ticks]."""


class Threshold:
    """Opens an order for each alarm, by a table."""

    truthful = False

    def __init__(self) -> None:
        self._classes = np.zeros((2, 0, CHANNELS), np.int16)

    def begin(self, lineup: Lineup, rows: Rows | None = None) -> None:
        """Read which quantities are measured."""
        quantities = lineup.whole[:, layout.T_QUANTITY : layout.T_QUANTITY + CHANNELS]
        tables = np.array([[side[quantity] for quantity in Quantity] for side in (HIGH, LOW)], np.int16)
        classes = tables[:, quantities]
        if rows is None:
            self._classes = classes
            return
        self._classes[:, rows] = classes[:, rows]

    def look(self, sight: Sight, _infos: Infos, /) -> Wishes:
        """Say what is wrong."""
        sizes = np.abs(sight.values)
        worst = sizes.argmax(axis=0)  # (n, 24)
        value = np.take_along_axis(sight.values, worst[None], axis=0)[0]
        rows = np.arange(len(worst))[:, None]
        found: NDArray[np.int16] = np.where(value > 0, self._classes[0, rows, worst], self._classes[1, rows, worst])
        quiet = np.abs(value) < LEVEL
        found = np.where(quiet, np.int16(Fault.SENSOR_STUCK), found)
        found = np.where(sight.age > OLD, np.int16(Fault.PLC_COMM), found)
        claims = np.where(sight.alarm & (sight.order == Order.NONE), found - np.int16(1), np.int16(-1))
        return Wishes(claims, np.full_like(claims, -1), standing(sight))
