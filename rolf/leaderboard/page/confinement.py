"""Confinement: what of a program's output may reach the terminal player.

A terminal obeys what is printed on it. Only what paints and moves within the screen passes: no links, titles
or clipboard (OSC), no strings to devices (DCS), no other size of the screen (CSI t), no character repeated a million
times (CSI b).
"""

from __future__ import annotations

import re

from rolf.leaderboard.page.text import visible

_SEQUENCE = re.compile(
    r"""
    \x1b [\]PX^_] [^\x07\x1b]* (?: \x07 | \x1b\\ )?   # strings: OSC, DCS, SOS, PM, APC
    | \x1b \[ [0-?]* [ -/]* [@-~]?                    # CSI
    | \x1b [ -/]* [0-~]?                              # all others
    """,
    re.VERBOSE,
)
_ALLOWED = re.compile(
    r"""
    \x1b \[ (?: \d{1,4} [;:]? | [;:] ){0,24} m             # colours
    | \x1b \[ \d{0,3} (?: ; \d{0,3} )? [A-HJ-MPXd@f]       # move, erase, insert, delete
    | \x1b \[ \? (?: 7 | 25 | 47 | 1047 | 1049 ) [hl]      # wrapping, cursor, the other screen
    | \x1b [78M]                                           # save and restore the cursor, up a line
    """,
    re.VERBOSE,
)
_MOVES = re.compile("[\b\r]")


def confined(output: str) -> str:
    """Return an output with what the player's terminal may obey; the rest is gone or can be seen."""
    parts = []
    end = 0
    for found in _SEQUENCE.finditer(output):
        parts.append(_shown(output[end : found.start()]))
        if _ALLOWED.fullmatch(found[0]):
            parts.append(found[0])
        end = found.end()
    parts.append(_shown(output[end:]))
    return "".join(parts)


def _shown(text: str) -> str:
    """Return what lies between sequences: backspace and return move as they do, a bell is silent."""
    pieces = _MOVES.split(text.replace("\x07", ""))
    moves = _MOVES.findall(text)
    return visible(pieces[0]) + "".join(move + visible(piece) for move, piece in zip(moves, pieces[1:], strict=True))
