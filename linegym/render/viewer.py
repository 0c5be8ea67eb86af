"""Viewer: keeps what an episode showed, and shows the line as it is now."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linegym.actions import describe
from linegym.batch import Batch
from linegym.plant import Fault, Order
from linegym.render.scene import Scene, scene

KEPT = 120
"""Steps that the trace of a sensor shows."""


@dataclass(frozen=True, slots=True)
class View:
    """A scene, and what came before it."""

    scene: Scene
    focus: int
    """The station whose sensor is shown."""
    trace: tuple[tuple[int, float, float], ...]
    """(tick, true, delivered) of its primary sensor."""
    said: str
    """The last command, in words."""
    refused: bool
    """Whether it was not possible."""
    total: float
    """Rewards so far."""


class Viewer:
    """What a person sees of one row of a batch.

    Args:
        batch: Where the line is.
        mode: ``ansi`` or ``rgb_array``.
        row: Which row.
    """

    def __init__(self, batch: Batch, mode: str, row: int = 0) -> None:
        self._batch = batch
        self._mode = mode
        self._row = row
        self._traces: deque[tuple[int, tuple[float, ...], tuple[float, ...]]] = deque(maxlen=KEPT)
        self._scene: Scene | None = None
        self._focus = 0
        self._said = ""
        self._total = 0.0

    def begin(self) -> None:
        """Begin an episode."""
        self._traces.clear()
        self._focus, self._said, self._total = 0, "", 0.0
        self._look()

    def step(self, command: NDArray[np.int32]) -> None:
        """Note what a step did."""
        self._said = describe(command)
        self._total += float(self._batch.rewards[self._row])
        self._look()

    def render(self) -> str | NDArray[np.uint8] | None:
        """Return the frame of the mode; None before the first episode."""
        if self._scene is None:
            return None
        trace = tuple((tick, true[self._focus], seen[self._focus]) for tick, true, seen in self._traces)
        refused = bool(self._batch.facts[self._row, 2])
        view = View(self._scene, self._focus, trace, self._said, refused, self._total)
        if self._mode == "ansi":
            from linegym.render.text import text

            return text(view)
        from linegym.render.picture import picture

        return picture(view)

    def _look(self) -> None:
        """Take in the line as it is, and turn to the station where most happens."""
        self._scene = now = scene(self._batch, self._row)
        self._traces.append(
            (now.tick, tuple(each.true[0] for each in now.stations), tuple(each.seen[0] for each in now.stations))
        )
        if self._interest(self._focus) == 0:
            self._focus = max(range(len(now.stations)), key=lambda number: (self._interest(number), -number))

    def _interest(self, number: int) -> int:
        """Return how much happens at a station: more with a work order than with an alarm, or a fault nobody knows."""
        if self._scene is None or number >= len(self._scene.stations):
            return 0
        station = self._scene.stations[number]
        return 4 * (station.order != Order.NONE) + 2 * station.alarm + (station.fault != Fault.NONE)
