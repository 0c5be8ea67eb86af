"""Pen: colours, letters and simple shapes on an image."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from PIL import Image, ImageDraw, ImageFont

INK, FAINT, PAPER, FLOOR, RULE = "#1f2933", "#7b8794", "#ffffff", "#f1f4f7", "#cbd2d9"
GREEN, BLUE, AMBER, RED, VIOLET, TRUTH, SENSOR = (
    "#3f9142",
    "#8fb3d1",
    "#e8a317",
    "#cf3030",
    "#8a63d2",
    "#a3218e",
    "#1769c2",
)
"""TRUTH marks what the agent does not see, SENSOR what it does."""

Box = tuple[float, float, float, float]
Spot = tuple[float, float]


@lru_cache(maxsize=8)
def font(size: int) -> ImageFont.FreeTypeFont:
    """Return the font that comes with Pillow."""
    found = ImageFont.load_default(size)
    if not isinstance(found, ImageFont.FreeTypeFont):
        raise RuntimeError("pictures need a Pillow with FreeType; install Pillow's own wheel: pip install -U pillow")
    # The basic layout engine is always there; the other depends on a system library.
    return found.font_variant(layout_engine=ImageFont.Layout.BASIC)


class Pen:
    """Draws on an image.

    Args:
        width: [pixels]
        height: [pixels]
    """

    def __init__(self, width: int, height: int) -> None:
        self.image = Image.new("RGB", (width, height), PAPER)
        self._draw = ImageDraw.Draw(self.image)

    def text(self, at: Spot, said: str, size: int = 13, ink: str = INK, anchor: str = "lm", width: float = 0) -> None:
        """Write a line; ``anchor`` as Pillow has it; with a width what is longer is cut."""
        if width:
            while said and self._draw.textlength(said, font(size)) > width:
                said = f"{said[:-2]}…" if len(said) > 1 else ""
        self._draw.text(at, said, ink, font(size), anchor)

    def box(self, box: Box, fill: str | None = None, line: str | None = None, width: int = 1, round: int = 4) -> None:
        """Draw a box with round corners."""
        self._draw.rounded_rectangle(box, round, fill, line, width)

    def line(self, spots: Sequence[Spot], ink: str = FAINT, width: int = 2) -> None:
        """Draw a line through some spots."""
        self._draw.line(list(spots), ink, width, joint="curve")

    def dotted(self, start: Spot, end: Spot, ink: str, gap: int = 9) -> None:
        """Draw a row of dots."""
        (x, y), (u, v) = start, end
        count = max(1, int(max(abs(u - x), abs(v - y)) // gap))
        for dot in range(1, count):
            share = dot / count
            self.disc((x + share * (u - x), y + share * (v - y)), 2, ink)

    def disc(self, at: Spot, radius: float, fill: str, line: str | None = None) -> None:
        """Draw a disc."""
        x, y = at
        self._draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill, line)

    def triangle(self, at: Spot, size: float, fill: str) -> None:
        """Draw a triangle that stands on its side, around a spot."""
        x, y = at
        self._draw.polygon([(x, y - size), (x - size, y + 0.8 * size), (x + size, y + 0.8 * size)], fill)

    def arrow(self, start: Spot, end: Spot, ink: str = FAINT) -> None:
        """Draw an arrow that goes to the right or to the left."""
        self.line([start, end], ink, 3)
        x, y = end
        back = -7 if end[0] > start[0] else 7
        self._draw.polygon([(x, y), (x + back, y - 5), (x + back, y + 5)], ink)
