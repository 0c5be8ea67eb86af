"""Picture: the line as an RGB array of fixed size."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linegym.actions import CLAIM_NAMES
from linegym.plant import Order
from linegym.render.floor import LIGHT_COLOURS, Floor
from linegym.render.pen import FAINT, GREEN, INK, PAPER, RED, RULE, SENSOR, TRUTH, Box, Pen
from linegym.render.viewer import View
from linegym.render.words import (
    LIGHTS,
    UNITS,
    clock,
    end_words,
    order_words,
    quantity_name,
    technician_words,
)

WIDTH, HEIGHT = 1280, 768  # video codecs want even sides
PAD = 12
FLOOR_BOX: Box = (PAD, 78, WIDTH - PAD, 508)
LEGEND = 524
PANELS_TOP, PANELS_BOTTOM = 544, HEIGHT - PAD
ORDER_LINES = 8
"""Work orders that are listed."""


def picture(view: View) -> NDArray[np.uint8]:
    """Return the line now as an array of shape (HEIGHT, WIDTH, 3)."""
    pen = Pen(WIDTH, HEIGHT)
    _header(pen, view)
    Floor(pen, view.scene, FLOOR_BOX).draw(view.focus)
    _legend(pen)
    _trace(pen, view, (PAD, PANELS_TOP, 470, PANELS_BOTTOM))
    _orders(pen, view, (482, PANELS_TOP, 860, PANELS_BOTTOM))
    _crew(pen, view, (872, PANELS_TOP, 1062, PANELS_BOTTOM))
    _parts(pen, view, (1074, PANELS_TOP, WIDTH - PAD, PANELS_BOTTOM))
    return np.asarray(pen.image, dtype=np.uint8).copy()


def _header(pen: Pen, view: View) -> None:
    scene = view.scene
    pen.text((PAD, 20), scene.variant, 19)
    pen.text((WIDTH - PAD, 20), f"{clock(scene.tick)}   tick {scene.tick} of {scene.horizon}", 19, anchor="rm")
    share = scene.tick / scene.horizon
    pen.box((PAD, 36, WIDTH - PAD, 42), RULE, round=2)
    if share > 0:
        pen.box((PAD, 36, PAD + share * (WIDTH - 2 * PAD), 42), INK, round=2)
    counts = (
        f"output {scene.output} of {scene.nominal:.0f} possible     scrap {scene.scrap}     "
        f"work orders: right {scene.closed}, wrong {scene.wrong}     scan time {scene.scan:.2f}     "
        f"reward {view.total:.2f}"
    )
    pen.text((PAD, 60), counts, 14)
    if scene.over:
        pen.text((WIDTH - PAD, 60), end_words(scene), 14, GREEN if scene.success else RED, "rm")
    elif view.said:
        told = f"{view.said}, but that is not possible" if view.refused else view.said
        pen.text((WIDTH - PAD, 60), f"command: {told}", 14, RED if view.refused else SENSOR, "rm", 560)


def _legend(pen: Pen) -> None:
    x = float(PAD)
    for panel, words in LIGHTS.items():
        pen.box((x, LEGEND - 6, x + 18, LEGEND + 6), LIGHT_COLOURS[panel], INK, 1, 2)
        pen.text((x + 24, LEGEND), words, 12)
        x += 48 + 6.5 * len(words)
    pen.triangle((x + 8, LEGEND), 8, RED)
    pen.text((x + 22, LEGEND), "alarm", 12)
    pen.box((x + 78, LEGEND - 7, x + 130, LEGEND + 7), TRUTH, None, 1, 3)
    pen.text((x + 104, LEGEND), "fault", 11, PAPER, "mm")
    pen.text((x + 137, LEGEND), "true fault, hidden from the agent", 12)
    pen.box((x + 340, LEGEND - 7, x + 348, LEGEND + 7), PAPER, INK, 1, 1)
    pen.box((x + 341, LEGEND, x + 347, LEGEND + 6), INK, None, 1, 0)
    pen.text((x + 356, LEGEND), "buffer, amber: full", 12)
    pen.disc((x + 484, LEGEND), 8, PAPER, INK)
    pen.text((x + 497, LEGEND), "idle", 12)
    pen.disc((x + 540, LEGEND), 8, SENSOR, INK)
    pen.text((x + 553, LEGEND), "busy technician", 12)


def _panel(pen: Pen, box: Box, title: str) -> None:
    pen.box(box, PAPER, RULE)
    pen.text((box[0] + 10, box[1] + 14), title, 13, width=box[2] - box[0] - 20)


def _trace(pen: Pen, view: View, box: Box) -> None:
    """Draw the primary sensor of the station in focus against the truth."""
    quantity = view.scene.quantities[0]
    _panel(pen, box, f"S{view.focus} (ringed): {quantity_name(quantity)} [{UNITS[quantity]}]")
    pen.text((box[2] - 150, box[1] + 14), "delivered", 12, SENSOR)
    pen.text((box[2] - 80, box[1] + 14), "true (hidden)", 12, TRUTH)
    left, top, right, bottom = box[0] + 52, box[1] + 34, box[2] - 12, box[3] - 26
    values = [value for _, *pair in view.trace for value in pair]
    middle, half = (max(values) + min(values)) / 2, (max(values) - min(values)) / 2
    half = max(half * 1.15, abs(middle) * 0.05, 0.05)
    first, last = view.trace[0][0], max(view.trace[-1][0], view.trace[0][0] + 1)

    def spot(tick: int, value: float) -> tuple[float, float]:
        across = (tick - first) / (last - first)
        return left + across * (right - left), (top + bottom) / 2 - (value - middle) / half * (bottom - top) / 2

    for share in (-1.0, 0.0, 1.0):
        y = spot(first, middle + share * half)[1]
        pen.line([(left, y), (right, y)], RULE, 1)
        pen.text((left - 6, y), f"{middle + share * half:.1f}", 11, FAINT, "rm")
    pen.text((left, bottom + 13), f"tick {first}", 11, FAINT)
    pen.text((right, bottom + 13), f"tick {view.trace[-1][0]}", 11, FAINT, "rm")
    if len(view.trace) > 1:
        pen.line([spot(tick, seen) for tick, _, seen in view.trace], SENSOR, 2)
        pen.line([spot(tick, true) for tick, true, _ in view.trace], TRUTH, 2)


def _orders(pen: Pen, view: View, box: Box) -> None:
    found = [each for each in view.scene.stations if each.order is not Order.NONE]
    _panel(pen, box, f"Work orders ({len(found)})")
    for line, station in enumerate(found[:ORDER_LINES]):
        y = box[1] + 38 + 21 * line
        pen.text((box[0] + 10, y), f"S{station.number}", 13, SENSOR)
        pen.text((box[0] + 46, y), order_words(station, view.scene.tick), 13, width=box[2] - box[0] - 56)
    if not found:
        pen.text((box[0] + 10, box[1] + 38), "none", 13, FAINT)
    elif len(found) > ORDER_LINES:
        pen.text((box[2] - 10, box[1] + 14), f"the first {ORDER_LINES} are shown", 12, FAINT, "rm")


def _crew(pen: Pen, view: View, box: Box) -> None:
    _panel(pen, box, "Technicians")
    for line, who in enumerate(view.scene.technicians):
        words = technician_words(who)
        pen.text((box[0] + 10, box[1] + 38 + 21 * line), f"T{who.number}  {words}", 13, width=box[2] - box[0] - 20)


def _parts(pen: Pen, view: View, box: Box) -> None:
    _panel(pen, box, "Spare parts in store")
    for line, part in enumerate(view.scene.parts):
        y = box[1] + 38 + 21 * line
        pen.text((box[0] + 10, y), f"{part.stock}  {CLAIM_NAMES[line]}", 13, INK if part.stock else RED)
        if part.arrival >= 0:
            pen.text((box[2] - 10, y), f"+{part.coming} in {part.arrival}", 12, FAINT, "rm")
