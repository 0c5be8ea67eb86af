"""How each fault class shows: what it adds to each channel at full severity, from the plant's published effects."""

from __future__ import annotations

import numpy as np

from linegym import layout
from linegym.plant import (
    CHANNELS,
    FAULT_CURRENT,
    FAULT_DERATE,
    FAULT_PRESSURE,
    FAULT_TEMPERATURE,
    FAULT_VIBRATION,
    FAULTS,
    SCALE,
)
from linegym.policies.policy import Lineup
from linegym.policies.sight import Reals

FEATURES = CHANNELS + 1
"""The three channels, and the time of a part."""


def signatures(lineup: Lineup) -> Reals:  # (FEATURES, FAULTS + 1, n)
    """Return what each fault class adds to each feature at full severity [usual spread; share of the cycle time]."""
    derate = np.array(FAULT_DERATE)
    added = np.array(
        [
            FAULT_TEMPERATURE,
            FAULT_VIBRATION,
            FAULT_CURRENT,
            [-lost for lost in FAULT_PRESSURE],
            -100.0 * derate,
        ]
    )
    added /= np.array(SCALE)[:, None]
    quantities = lineup.whole[:, layout.T_QUANTITY : layout.T_QUANTITY + CHANNELS]
    found = np.zeros((FEATURES, FAULTS + 1, lineup.n), np.float32)
    for k in range(CHANNELS):
        found[k] = added[quantities[:, k]].T
    found[CHANNELS] = (derate / (1 - derate))[:, None]
    return found
