"""The production line as readable objects: written from ``docs/reference/plant.md`` alone, to check the kernel by.

Begin with ``line.py``, which says what happens in one tick; every other module is one part of the plant and says its
law, where that comes from, and the units. Nothing here is fast, and nothing is shared with ``linegym/kernel/``.
"""

from linegym.reference.blueprint import Rows
from linegym.reference.line import ReferenceLine

__all__ = ["ReferenceLine", "Rows"]
