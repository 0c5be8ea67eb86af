"""The floor: stations, buffers and technicians, each where it is."""

from __future__ import annotations

from collections import Counter

from linegym.plant import Crew, Fault, Order, Panel
from linegym.render.pen import (
    AMBER,
    BLUE,
    FAINT,
    FLOOR,
    GREEN,
    INK,
    PAPER,
    RED,
    RULE,
    SENSOR,
    TRUTH,
    VIOLET,
    Box,
    Pen,
    Spot,
)
from linegym.render.scene import BufferView, Point, Scene, StationView, TechnicianView
from linegym.render.words import fault_name

LIGHT_COLOURS = {
    Panel.STARVED: BLUE,
    Panel.RUNNING: GREEN,
    Panel.BLOCKED: AMBER,
    Panel.DOWN: RED,
    Panel.MINOR_STOP: VIOLET,
}
MARGIN = 46
HALF_WIDTH, HALF_HEIGHT = 25, 17
"""Of a station [pixels]."""
ABOVE = HALF_HEIGHT + 11
"""Where technicians walk and stand: this far above the middle of a station [pixels]."""
ORDER_WORDS = {Order.OPEN: "assess", Order.TRAVEL: "on the way", Order.REPAIR: "repair", Order.DONE: "to close"}
LARGEST_CELL = 96
"""Edge of a cell, when there is room enough [pixels]."""


class Floor:
    """Draws a line on its floor.

    Args:
        pen: What to draw with.
        scene: The line.
        box: Where on the image.
    """

    def __init__(self, pen: Pen, scene: Scene, box: Box) -> None:
        self._pen, self._scene, self._box = pen, scene, box
        xs = [station.at[0] for station in scene.stations]
        ys = [station.at[1] for station in scene.stations]
        left, top, right, bottom = box
        wide, high = max(xs) - min(xs) or 1, max(ys) - min(ys) or 1
        self._across = min(LARGEST_CELL, (right - left - 2 * MARGIN - 2 * HALF_WIDTH) / wide)
        self._down = min(LARGEST_CELL, (bottom - top - 2 * MARGIN) / high)
        self._origin = (
            (left + right - self._across * (max(xs) + min(xs))) / 2,
            (top + bottom - self._down * (max(ys) + min(ys))) / 2,
        )

    def draw(self, focus: int) -> None:
        """Draw it all, what lies above later."""
        self._pen.box(self._box, FLOOR, RULE)
        for buffer in self._scene.buffers:
            self._belts(buffer)
        for station in self._scene.stations:
            self._ends(station)
        for buffer in self._scene.buffers:
            self._buffer(buffer)
        for station in self._scene.stations:
            self._station(station, station.number == focus)
        self._technicians()

    def _spot(self, at: Point) -> Spot:
        return self._origin[0] + at[0] * self._across, self._origin[1] + at[1] * self._down

    def _belts(self, buffer: BufferView) -> None:
        """Draw the belts from the stations before a buffer to it, and from it to those after it."""
        middle = self._spot(buffer.at)
        for number in (*buffer.before, *buffer.after):
            self._pen.line([self._spot(self._scene.stations[number].at), middle], FAINT, 3)
        for number in buffer.back:
            # Sent back: beside the line, so that it is not taken for a belt of the line.
            x, y = self._spot(self._scene.stations[number].at)
            away = 34 if y < (self._box[1] + self._box[3]) / 2 else -34
            self._pen.dotted((x, y), (x, y + away), AMBER, 7)
            self._pen.dotted((x, y + away), (middle[0], middle[1] + away), AMBER, 7)
            self._pen.dotted((middle[0], middle[1] + away), middle, AMBER, 7)
            self._pen.text(((x + middle[0]) / 2, y + 1.3 * away), "sent back", 12, FAINT, "mm")

    def _ends(self, station: StationView) -> None:
        x, y = self._spot(station.at)
        if station.first:
            self._pen.arrow((x - HALF_WIDTH - 22, y), (x - HALF_WIDTH - 1, y))
            self._pen.text((x - HALF_WIDTH - 26, y), "in", 12, FAINT, "rm")
        if station.last:
            self._pen.arrow((x - HALF_WIDTH, y), (x - HALF_WIDTH - 22, y))
            self._pen.text((x - HALF_WIDTH - 26, y), "out", 12, FAINT, "rm")

    def _buffer(self, buffer: BufferView) -> None:
        x, y = self._spot(buffer.at)
        box = (x - 6, y - 14, x + 6, y + 14)
        full = 26 * buffer.level / buffer.capacity
        self._pen.box(box, PAPER, INK, 1, 1)
        if full:
            self._pen.box(
                (x - 5, y + 13 - full, x + 5, y + 13), INK if buffer.level < buffer.capacity else AMBER, None, 1, 0
            )

    def _station(self, station: StationView, focus: bool) -> None:
        x, y = self._spot(station.at)
        box = (x - HALF_WIDTH, y - HALF_HEIGHT, x + HALF_WIDTH, y + HALF_HEIGHT)
        if focus:
            self._pen.box((box[0] - 5, box[1] - 5, box[2] + 5, box[3] + 5), None, SENSOR, 2, 7)
        self._pen.box(box, LIGHT_COLOURS[station.panel], INK)
        ink = INK if station.panel in (Panel.STARVED, Panel.BLOCKED) else PAPER
        self._pen.text((x, y - 5), f"S{station.number}", 13, ink, "mm")
        if station.throttled:
            self._pen.text((x, y + 9), "half speed", 9, ink, "mm")
        elif station.order is not Order.NONE:
            self._pen.text((x, y + 9), ORDER_WORDS[station.order], 9, ink, "mm")
        if station.fault is not Fault.NONE:
            self._pen.box((x - 34, y + HALF_HEIGHT + 1, x + 34, y + HALF_HEIGHT + 15), TRUTH, None, 1, 3)
            self._pen.text((x, y + HALF_HEIGHT + 8), fault_name(station.fault), 10, PAPER, "mm")
        if station.alarm:
            self._pen.disc((x + HALF_WIDTH, y - HALF_HEIGHT), 10, PAPER)
            self._pen.triangle((x + HALF_WIDTH, y - HALF_HEIGHT), 9, RED)
            self._pen.text((x + HALF_WIDTH, y - HALF_HEIGHT + 1), "!", 11, PAPER, "mm")

    def _technicians(self) -> None:
        standing: Counter[int] = Counter()
        for who in self._scene.technicians:
            x, y = self._spot(who.at)
            spot = (x, y - ABOVE)
            if who.state in (Crew.TO_REPAIR, Crew.TO_INSPECT):
                u, v = self._spot(self._scene.stations[who.to].at)
                self._pen.dotted(spot, (u, spot[1]), SENSOR)  # along the line first, then across, as he walks
                self._pen.dotted((u, spot[1]), (u, v - HALF_HEIGHT), SENSOR)
            else:
                spot = (x - 18 + 18 * standing[who.near], y - ABOVE)
                standing[who.near] += 1
            self._technician(who, spot)

    def _technician(self, who: TechnicianView, spot: Spot) -> None:
        busy = who.state is not Crew.IDLE
        self._pen.disc(spot, 9, SENSOR if busy else PAPER, INK)
        self._pen.text(spot, f"T{who.number}", 10, PAPER if busy else INK, "mm")
