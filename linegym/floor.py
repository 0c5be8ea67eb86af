"""Where stations stand: along a U, as lines do, so that start and end lie side by side.

The floor is a grid of cells of 6 m. The main path goes along the lower leg and comes back along the upper; beside it
run lanes, inside the U for positive numbers, outside for negative ones.
"""

from __future__ import annotations

from linegym.philox import Draws

LEGS_APART = 6
"""Between the legs of the U [cells]."""
GAP = (1, 2)
"""Between neighbours on a leg [cells]."""


def along_a_u(steps: int, draws: Draws) -> list[tuple[int, int, int]]:
    """Return for each step of the main path its cell, and the way from a leg to the inside of the U (+1 or -1)."""
    lower = (steps + 1) // 2
    columns = [0]
    for _ in range(lower - 1):
        columns.append(columns[-1] + draws.between(*GAP))
    bottom = [(columns[step], 0, 1) for step in range(lower)]
    top = [(columns[lower - 1 - step], LEGS_APART, -1) for step in range(steps - lower)]
    return bottom + top


def cells(places: list[tuple[int, int]], draws: Draws) -> list[tuple[int, int]]:
    """Return the cell of each ``(step, lane)``."""
    path = along_a_u(1 + max(step for step, _ in places), draws)
    found = []
    for step, lane in places:
        x, y, inward = path[step]
        found.append((x, y + inward * lane))
    return found
