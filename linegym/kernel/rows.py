"""The types of the rows that the kernel works on."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

ShortRow: TypeAlias = NDArray[np.int16]
"""``layout.H_*``"""
IntRow: TypeAlias = NDArray[np.int32]
"""``layout.I_*``, and a template's ``layout.T_*``"""
FloatRow: TypeAlias = NDArray[np.float32]
"""``layout.F_*``"""
RealRow: TypeAlias = NDArray[np.float64]
"""A template's ``layout.G_*`` and a variant's ``layout.V_*``"""
MaskRow: TypeAlias = NDArray[np.bool_]
"""``plant.ACTIONS``"""
WordsRow: TypeAlias = NDArray[np.int64]
"""(4, STATIONS): the random words of one stream in one tick"""
Scratch: TypeAlias = NDArray[np.int64]
"""(3, 4, STATIONS): the words of FLOW, SENSE and LINK in one tick"""
