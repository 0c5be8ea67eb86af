"""Screen: a terminal's display of 24 lines and 80 columns, kept by pyte."""

from __future__ import annotations

from typing import NamedTuple

import pyte
import pyte.modes

COLUMNS, LINES = 80, 24  # the size of the sandbox's ptys
FED = 64 << 10
"""How much of one piece of output is played [characters]: the end, as more than 800 lines have scrolled away."""


class Cell(NamedTuple):
    """One place on the screen."""

    character: str
    """Empty for the right half of a wide character."""
    foreground: str
    """A colour's name in pyte's palette, or six hexadecimal digits."""
    background: str
    bold: bool
    underlined: bool


class _Stream(pyte.Stream):
    """A parser that passes over what it does not understand, as terminals do; pyte's raises."""

    def _send_to_parser(self, data: str) -> bool | None:
        try:
            return super()._send_to_parser(data)
        except (TypeError, ValueError, LookupError, UnboundLocalError):
            # A sequence with parameters that its handler cannot make sense of. The parser has begun anew by now.
            return True


class Screen:
    """What a person would see."""

    def __init__(self) -> None:
        self._screen = pyte.Screen(COLUMNS, LINES)
        self._stream = _Stream(self._screen)
        self.clear()

    def clear(self) -> None:
        """Begin with an empty screen."""
        self._screen.reset()
        self._screen.set_mode(pyte.modes.LNM)  # the sandbox's ptys do not turn LF into CR LF

    def feed(self, output: str) -> None:
        """Show terminal output."""
        self._stream.feed(output[-FED:])

    def text(self) -> str:
        """Return the lines without trailing blanks."""
        # Not pyte's own ``display``: it fails where half of a wide character was overwritten.
        return "\n".join("".join(cell.character for cell in row).rstrip() for row in self.cells())

    def cursor(self) -> tuple[int, int] | None:
        """Return (line, column) of the cursor from 0, or None if it is hidden."""
        cursor = self._screen.cursor
        return None if cursor.hidden else (min(cursor.y, LINES - 1), min(cursor.x, COLUMNS - 1))

    def cells(self) -> list[list[Cell]]:
        """Return the screen, a row at a time, reverse video already applied."""
        return [[_cell(self._screen.buffer[y][x]) for x in range(COLUMNS)] for y in range(LINES)]


def _cell(char: pyte.screens.Char) -> Cell:
    foreground, background = char.fg, char.bg
    if char.reverse:
        foreground = "black" if background == "default" else background
        background = "white" if char.fg == "default" else char.fg
    return Cell(char.data, foreground, background, char.bold, char.underscore)
