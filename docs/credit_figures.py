"""Draw the figures of the page on credit, with the numbers that `rolf_adapters.ppo.credit` finds.

`python docs/credit_figures.py`, where torch is installed. Each file carries a digest of the numbers it shows, so that a
test can tell when a figure is older than what it is of.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from linegym.render.pen import AMBER, BLUE, FAINT, FLOOR, GREEN, INK, PAPER, RED, RULE, TRUTH, VIOLET, Pen

IMAGES = Path(__file__).parent / "images"
NAN = float("nan")

# ---- an agent that writes: two turns, nine tokens, of which the policy chose five

WORDS = ("mend", "a.txt", "cat", "a.txt", "teh", "$", "sed", "-i", "s/eh/he/")
CHOSEN = (0, 0, 1, 1, 0, 0, 1, 0, 1)
FORCED = 7
"""The token that a grammar left no choice about."""
EPISODE: dict[str, Any] = {
    "rewards": (1.0, 2.0),
    "values": (NAN, NAN, 3.0, 5.0, NAN, NAN, 4.0, NAN, 6.0),
    "chosen": CHOSEN,
    "turns": (0, 0, 0, 0, 1, 1, 1, 1, 1),
    "final": 8.0,
    "terminated": False,
}
FACTORS = {"trace": 0.5, "token_trace": 0.5}
LEFT, CELL = 190, 104
RULES = ("turn", "token", "bilevel")
SAID = {
    "turn": "a turn is one decision",
    "token": "a token is one decision",
    "bilevel": "tokens within turns",
}


def tokens() -> tuple[Image.Image, bytes]:
    """The advantages of one episode's tokens under the three rules."""
    from rolf_adapters.ppo.credit import over_tokens  # here, so that the names of the figures are known without torch

    found = {rule: over_tokens(**EPISODE, **FACTORS, credit=rule).advantages for rule in RULES}
    pen = Pen(LEFT + 9 * CELL + 96, 452)
    _written(pen)
    for number, rule in enumerate(RULES):
        _judged(pen, rule, found[rule].tolist(), 190 + 84 * number)
    x = 14.0
    for said, fill in (("chosen by the policy", BLUE), ("said to it", FLOOR), ("forced by a grammar", PAPER)):
        pen.box((x, 430, x + 20, 446), fill, FAINT)
        pen.text((x + 28, 438), said)
        x += 62 + 7 * len(said)
    pen.text((x, 438), "arrows: what reaches back, half of it here")
    return pen.image, repr({rule: each.tolist() for rule, each in found.items()}).encode()


def _middle(place: float) -> float:
    return LEFT + CELL * (place + 0.5)


def _written(pen: Pen) -> None:
    """Draw tokens, values and rewards."""
    for turn, (first, last) in enumerate(((0, 3), (4, 8))):
        left, right = LEFT + CELL * first + 4, LEFT + CELL * (last + 1) - 4
        pen.line([(left, 30), (left, 24), (right, 24), (right, 30)], FAINT)
        pen.text(((left + right) / 2, 14), f"turn {turn}", anchor="mm")
    for name, y in (("token", 50), ("value before it", 92), ("reward of the turn", 134)):
        pen.text((14, y), name)
    for place, (word, chosen, value) in enumerate(zip(WORDS, CHOSEN, EPISODE["values"], strict=True)):
        fill = BLUE if chosen else PAPER if place == FORCED else FLOOR
        pen.box((_middle(place) - 48, 36, _middle(place) + 48, 64), fill, FAINT)
        pen.text((_middle(place), 50), word, anchor="mm", ink=INK if chosen else FAINT)
        pen.text((_middle(place), 92), f"{value:g}" if chosen else "·", 15, TRUTH if chosen else RULE, "mm")
    pen.text((_middle(9), 92), f"{EPISODE['final']:g} at the end", 15, TRUTH, "mm")
    for place, reward in zip((3, 8), EPISODE["rewards"], strict=True):
        pen.box((_middle(place) - 22, 121, _middle(place) + 22, 147), AMBER, None)
        pen.text((_middle(place), 134), f"+{reward:g}", 15, INK, "mm")
    pen.line([(14, 160), (pen.image.width - 14, 160)], RULE, 1)


def _judged(pen: Pen, rule: str, advantages: list[float], top: float) -> None:
    """Draw what each token is put down to under a rule."""
    pen.text((14, top + 6), rule, 15)
    pen.text((14, top + 26), SAID[rule], 12, FAINT)
    places = [place for place, chosen in enumerate(CHOSEN) if chosen]
    if rule == "turn":
        for first, last in ((2, 3), (6, 8)):
            pen.box((_middle(first) - 50, top - 16, _middle(last) + 50, top + 34), None, GREEN, 2)
        _back(pen, top + 46, 6, 3, VIOLET)
    else:
        for place, before in zip(places[1:], places, strict=False):
            border = rule == "bilevel" and (before, place) == (3, 6)
            _back(pen, top + 46, place, before, VIOLET if border or rule == "token" else GREEN)
    for place in places:
        pen.box((_middle(place) - 22, top - 8, _middle(place) + 22, top + 26), PAPER, GREEN)
        pen.text((_middle(place), top + 9), f"{advantages[place]:g}", 17, INK, "mm")


def _back(pen: Pen, y: float, begin: float, end: float, ink: str) -> None:
    pen.arrow((_middle(begin) - 4, y), (_middle(end) + 6, y), ink)


# ---- many environments at once

KINDS = ("ssstssssc", "sscsstddd", "sssssssss")
"""Of each row: a step, one that terminates or is cut off, a slot in which the row waits to be reset."""
INKS = {"s": FLOOR, "t": RED, "c": VIOLET, "d": PAPER}


def time() -> tuple[Image.Image, bytes]:
    """Three rows of a rollout: where values come from and what stops them."""
    from rolf_adapters.ppo.credit import over_time

    kinds = np.array([list(row) for row in KINDS]).T
    shape = kinds.shape
    rewards, values = np.ones(shape), np.full(shape, 4.0)
    final, last = np.where(kinds == "c", 6.0, NAN), np.full(3, 5.0)
    found = over_time(
        rewards, values, last, kinds == "t", kinds == "c", final, kinds != "d", discount=0.5, trace=0.5
    ).advantages
    pen = Pen(1200, 352)
    pen.text(
        (14, 14), "Every step pays 1 and every value is 4; discount and trace are .5. In the boxes: advantages", 14
    )
    for row in range(3):
        _row(pen, row, "".join(kinds[:, row]), found[:, row].tolist())
    x = 14.0
    for said, kind in (("a step", "s"), ("terminates", "t"), ("cut off", "c"), ("waits to be reset", "d")):
        pen.box((x, 326, x + 20, 342), INKS[kind], FAINT)
        pen.text((x + 28, 334), said)
        x += 62 + 7 * len(said)
    return pen.image, repr(found.tolist()).encode()


def _row(pen: Pen, row: int, kinds: str, advantages: list[float]) -> None:
    top = 62 + 90 * row
    pen.text((14, top + 14), f"row {row}", 15)
    for step, (kind, advantage) in enumerate(zip(kinds, advantages, strict=True)):
        x = 80 + 104 * step
        white = kind in "tc"
        pen.box((x, top, x + 80, top + 30), INKS[kind], RULE if kind == "d" else FAINT)
        pen.text((x + 40, top + 15), "" if kind == "d" else f"{advantage:.3g}", 15, PAPER if white else INK, "mm")
        after = {"t": "0", "c": "6, of its final observation", "s": "4", "d": ""}[kind]
        if kind == "s" and step == len(kinds) - 1:
            after = "5, of the last observation"
        if after:
            anchor = "lm" if len(after) > 1 and step == len(kinds) - 1 else "mm"
            pen.text((x + 88, top + 44), after, 13, {"t": RED, "c": VIOLET}.get(kind, TRUTH), anchor)
        if kind == "s" and step < len(kinds) - 1:
            pen.arrow((x + 102, top + 15), (x + 84, top + 15), FAINT)
    if row == 0:
        pen.text((80, top - 16), "below: the value after each step; arrows: what reaches back", 12, FAINT)


FIGURES: dict[str, Callable[[], tuple[Image.Image, bytes]]] = {"credit-tokens": tokens, "credit-time": time}


def digest(shown: bytes) -> str:
    """Return what a file says of the numbers that it shows."""
    return hashlib.sha256(shown).hexdigest()


def main() -> None:
    """Draw all figures."""
    for name, draw in FIGURES.items():
        image, shown = draw()
        about = PngInfo()
        about.add_text("shown", digest(shown))
        path = IMAGES / f"{name}.png"
        image.save(path, optimize=True, pnginfo=about)
        print(f"{path.relative_to(IMAGES.parent.parent)}: {path.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main()
