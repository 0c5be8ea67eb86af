"""The tables of ``linegym.plant`` as arrays: one load by a running index, where a tuple would be a chain of tests."""

from __future__ import annotations

import numpy as np

from linegym import plant as P

NOMINAL = np.array(P.NOMINAL)
SCALE = np.array(P.SCALE)
TEMPERATURE = np.array(P.FAULT_TEMPERATURE)
VIBRATION = np.array(P.FAULT_VIBRATION)
CURRENT = np.array(P.FAULT_CURRENT)
PRESSURE = np.array(P.FAULT_PRESSURE)
DERATE = np.array(P.FAULT_DERATE)
SCRAP = np.array(P.FAULT_SCRAP)
ONSET = np.array(P.FAULT_ONSET)
REPAIR_TICKS = np.array(P.REPAIR_TICKS)
LAG_TEMPERATURE, LAG_VIBRATION, LAG_CURRENT, LAG_PRESSURE, LAG_SPEED = P.LAG
