"""Single precision: what the plant keeps between ticks has 24 bits, what it computes with has 53."""

from __future__ import annotations

import struct

_SINGLE = struct.Struct("f")


def f32(x: float) -> float:
    """Return ``x`` rounded to the nearest single-precision number (IEEE 754 binary32, ties to even)."""
    number: float = _SINGLE.unpack(_SINGLE.pack(x))[0]
    return number
