"""Picture: a screen as an RGB array of fixed size, the same on every machine."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import as_file, files

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from termgym.render.screen import COLUMNS, LINES, Cell, Screen

CELL_WIDTH, CELL_HEIGHT = 8, 16  # video codecs want even sides
MARGIN = 8
FONT_SIZE = 13
HEIGHT, WIDTH = LINES * CELL_HEIGHT + 2 * MARGIN, COLUMNS * CELL_WIDTH + 2 * MARGIN
BLANK = (" ", "")

# The colours of the terminal in Tango's palette; pyte calls yellow "brown", and magenta "bfightmagenta" in one place.
PALETTE = {
    "black": "2e3436",
    "red": "cc0000",
    "green": "4e9a06",
    "brown": "c4a000",
    "blue": "3465a4",
    "magenta": "75507b",
    "cyan": "06989a",
    "white": "d3d7cf",
    "brightblack": "555753",
    "brightred": "ef2929",
    "brightgreen": "8ae234",
    "brightbrown": "fce94f",
    "brightyellow": "fce94f",
    "brightblue": "729fcf",
    "brightmagenta": "ad7fa8",
    "bfightmagenta": "ad7fa8",
    "brightcyan": "34e2e2",
    "brightwhite": "eeeeec",
}
FOREGROUND, BACKGROUND = "d3d7cf", "1e1e1e"


def picture(screen: Screen) -> NDArray[np.uint8]:
    """Return the screen as an array of shape (HEIGHT, WIDTH, 3)."""
    image = np.empty((HEIGHT, WIDTH, 3), dtype=np.uint8)
    image[:] = _colour("default", BACKGROUND)
    for line, row in enumerate(screen.cells()):
        for column, cell in enumerate(row):
            if cell.character not in BLANK or cell.background != "default" or cell.underlined:
                _draw(image, line, column, cell)
    at = screen.cursor()
    if at is not None:
        place = _place(*at)
        image[place] = 255 - image[place]
    return image


def _place(line: int, column: int, width: int = CELL_WIDTH) -> tuple[slice, slice]:
    top, left = MARGIN + line * CELL_HEIGHT, MARGIN + column * CELL_WIDTH
    return slice(top, top + CELL_HEIGHT), slice(left, left + width)


def _draw(image: NDArray[np.uint8], line: int, column: int, cell: Cell) -> None:
    name = f"bright{cell.foreground}" if cell.bold and f"bright{cell.foreground}" in PALETTE else cell.foreground
    ink = _colour(name, FOREGROUND).astype(np.float32)
    paper = _colour(cell.background, BACKGROUND).astype(np.float32)
    mask = _glyph(cell.character, cell.bold)
    place = _place(line, column, min(mask.shape[1], WIDTH - MARGIN - column * CELL_WIDTH))
    mask = mask[:, : place[1].stop - place[1].start]
    image[place] = (paper + (ink - paper) * mask).astype(np.uint8)
    if cell.underlined:
        image[place][-2] = ink.astype(np.uint8)


@lru_cache(maxsize=512)
def _colour(name: str, default: str) -> NDArray[np.uint8]:
    hexadecimal = default if name == "default" else PALETTE.get(name, name)
    try:
        return np.frombuffer(bytes.fromhex(hexadecimal), dtype=np.uint8, count=3)
    except ValueError:  # a name of a palette that pyte does not have today
        return np.frombuffer(bytes.fromhex(default), dtype=np.uint8, count=3)


@lru_cache(maxsize=1)
def _font() -> ImageFont.FreeTypeFont:
    with as_file(files("termgym.render") / "DejaVuSansMono.ttf") as path:
        # The basic layout engine is always there; the other depends on a system library.
        return ImageFont.truetype(str(path), FONT_SIZE, layout_engine=ImageFont.Layout.BASIC)


@lru_cache(maxsize=4_096)
def _glyph(character: str, bold: bool) -> NDArray[np.float32]:
    """Return how much ink each pixel of a character takes, from 0 to 1, shape (CELL_HEIGHT, width, 1)."""
    width = 2 * CELL_WIDTH if character and _is_wide(character) else CELL_WIDTH
    canvas = Image.new("L", (width, CELL_HEIGHT), 0)
    if character not in BLANK:
        pen = ImageDraw.Draw(canvas)
        for shift in (0, 1) if bold else (0,):
            pen.text((shift, 0), character, font=_font(), fill=255)
    return (np.asarray(canvas, dtype=np.float32) / 255.0)[..., None]


def _is_wide(character: str) -> bool:
    from wcwidth import wcwidth  # what pyte itself decides by

    return bool(wcwidth(character[0]) == 2)
