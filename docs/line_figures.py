"""Draw the figures of the pages about the production line, from the line itself: `python docs/line_figures.py`.

Each file carries a digest of what it shows, so that a test can tell when a figure is older than the plant.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from linegym.actions import COMMANDS, NOOP
from linegym.batch import Batch
from linegym.plant import HORIZON, TICK, TRIP_SCAN
from linegym.policies import Lineup, policy
from linegym.render.floor import Floor
from linegym.render.pen import AMBER, BLUE, FAINT, GREEN, INK, RULE, SENSOR, TRUTH, VIOLET, Box, Pen
from linegym.render.scene import scene
from linegym.render.viewer import Viewer
from linegym.spaces import obs_spec
from linegym.splits import named, seen, unseen
from linegym.topologies import TOPOLOGIES
from linegym.variants import FAMILIES, Variant, variant

IMAGES = Path(__file__).parent / "images"
SHOWN = (1, 3, 5)
"""Intensities that the three laws are shown at."""
LINE = "serial/thermocouple/profinet/bearing"
Values = NDArray[np.float64]


class Chart:
    """A line chart in a box: axes, grid, labels.

    Args:
        pen: What to draw with.
        box: Where on the image, labels included.
        title: Above it.
        across: First and last value of the horizontal axis.
        up: Lowest and highest of the vertical axis.
    """

    def __init__(self, pen: Pen, box: Box, title: str, across: tuple[float, float], up: tuple[float, float]) -> None:
        self._pen, self._across, self._up = pen, across, up
        left, top, right, bottom = box
        self._area = (left + 52, top + 26, right - 14, bottom - 22)
        pen.text((left + 52, top + 12), title, 14)

    def grid(self, across: tuple[float, ...], up: tuple[float, ...], unit: str = "") -> None:
        """Draw lines at some values, with the values beside them; the last one across with its unit."""
        left, top, right, bottom = self._area
        for value in up:
            y = self._spot(0, value)[1]
            self._pen.line([(left, y), (right, y)], RULE, 1)
            self._pen.text((left - 7, y), f"{value:g}", 12, FAINT, "rm")
        for value in across:
            x = self._spot(value, 0)[0]
            self._pen.line([(x, top), (x, bottom)], RULE, 1)
            last = f"{value:g} {unit}" if value == across[-1] else f"{value:g}"
            self._pen.text((x, bottom + 11), last, 12, FAINT, "mm" if value != across[-1] else "rm")

    def curve(self, times: Values, values: Values, ink: str, width: int = 2) -> None:
        """Draw a curve."""
        self._pen.line([self._spot(x, y) for x, y in zip(times.tolist(), values.tolist(), strict=True)], ink, width)

    def level(self, value: float) -> None:
        """Draw a dotted line at a value."""
        left, _, right, _ = self._area
        y = self._spot(0, value)[1]
        self._pen.dotted((left, y), (right, y), AMBER, 8)

    def _spot(self, x: float, y: float) -> tuple[float, float]:
        left, top, right, bottom = self._area
        share_x = (x - self._across[0]) / (self._across[1] - self._across[0])
        share_y = (min(max(y, self._up[0]), self._up[1]) - self._up[0]) / (self._up[1] - self._up[0])
        return left + share_x * (right - left), bottom - share_y * (bottom - top)


# ---- what is shown


def place(name: str) -> int:
    """Return where a number lies in the observation."""
    return next(entry.index for entry in obs_spec() if entry.name == name)


def shift(rows: list[Variant], seed: int, player: str, ticks: int) -> Iterator[tuple[Batch, NDArray[np.int64]]]:
    """Play lines with a shipped policy; yield the batch and the actions after each tick."""
    batch, plays = Batch(rows), policy(player)
    seeds = np.full(len(rows), seed, np.uint64)
    batch.reset(seeds)
    plays.begin(Lineup.of(rows, seeds))
    for _ in range(ticks):
        actions = plays.act(batch.observations, batch.masks, {"true_faults": batch.faults()})
        batch.step(COMMANDS[actions][:, None])
        yield batch, actions


def watched(family: str, ticks: int) -> tuple[Values, Values]:
    """Return what is seen at three intensities of a family, under the same random numbers, with the oracle at work.

    Returns:
        Observations (ticks, 3, 632), and the true temperature of station 2 (ticks, 3) [°C].
    """
    first, *others = (variant(f"{LINE}+{family}:{intensity}") for intensity in SHOWN)
    rows = [first, *(replace(other, drawn_as=first.uid) for other in others)]
    observations, true = [], []
    for batch, _ in shift(rows, 8, "oracle", ticks):
        observations.append(batch.observations.astype(np.float64))
        true.append([scene(batch, row).stations[2].true[0] for row in range(len(rows))])
    return np.array(observations), np.array(true)


def roles() -> NDArray[np.uint8]:  # (15, 683)
    """Return what each variant is for, a column a template (seen ones first), a row a family and intensity."""
    sets = ("train", "validation", "iid", "extrapolation", "unseen-template")
    purpose = {each.id: number for number, name in enumerate(sets) for each in named(name)}
    columns = [*seen(), *sorted(unseen())]
    rows = [(family, intensity) for family in FAMILIES for intensity in range(1, 6)]
    found = [[purpose[f"{template.name}+{family}:{intensity}"] for template in columns] for family, intensity in rows]
    return np.array(found, np.uint8)


# ---- figures


def line() -> tuple[Image.Image, bytes]:
    """A line in the middle of its work, by the renderer."""
    name, seed, ticks = "parallel/thermocouple/profinet/bearing+sensor:1", 5, 328
    viewer: Viewer | None = None
    for batch, actions in shift([variant(name)], seed, "threshold", ticks):
        if viewer is None:
            viewer = Viewer(batch, "rgb_array")
        viewer.step(COMMANDS[actions][0])
    frame = viewer.render() if viewer is not None else None
    if not isinstance(frame, np.ndarray):
        raise TypeError("the viewer shows no picture")
    return Image.fromarray(frame), batch.digest().encode()


def topologies() -> tuple[Image.Image, bytes]:
    """One line of each topology."""
    names = [next(v.template.name for v in named("clean") if v.template.topology == each) for each in TOPOLOGIES]
    batch = Batch([variant(name) for name in names])
    batch.reset(np.zeros(len(names), np.uint64))
    for _ in range(60):
        batch.step(np.repeat(COMMANDS[NOOP][None, None], len(names), 0))
    pen = Pen(1690, 1010)
    for number, name in enumerate(names):
        left, top = 10 + 840 * (number % 2), 10 + 333 * (number // 2)
        pen.text((left, top + 10), name.partition("/")[0], 16)
        Floor(pen, scene(batch, number), (left, top + 24, left + 830, top + 315)).draw(-1)
    return pen.image, batch.digest().encode()


def _panels(titles: list[str], up: tuple[float, float], across: tuple[float, float]) -> tuple[Pen, list[Chart]]:
    """Return a pen and three charts beside each other."""
    pen = Pen(1240, 300)
    boxes = [(5 + 412 * number, 24, 5 + 412 * (number + 1), 296) for number in range(len(titles))]
    return pen, [Chart(pen, box, title, across, up) for box, title in zip(boxes, titles, strict=True)]


def sensor() -> tuple[Image.Image, bytes]:
    """The temperature of a station, true and as delivered."""
    ticks = 100
    observations, true = watched("sensor", ticks)
    base = variant(LINE).template.plant().stations[2].base
    seen_values = base + 10 + 6 * observations[:, :, place("station[2].value[0]")]
    minutes = np.arange(1, ticks + 1) * TICK / 60
    pen, charts = _panels([f"intensity {each}" for each in SHOWN], (-40, 160), (0, 10))
    for row, chart in enumerate(charts):
        chart.grid((0, 2, 4, 6, 8, 10), (-40, 0, 40, 80, 120, 160), "min")
        chart.curve(minutes, seen_values[:, row], SENSOR, 2)
        chart.curve(minutes, true[:, row], TRUTH, 2)
    pen.text((12, 12), "Temperature of station 2 [°C]:", 14)
    pen.text((222, 12), "delivered", 14, SENSOR)
    pen.text((296, 12), "true", 14, TRUTH)
    return pen.image, observations.tobytes()


def network() -> tuple[Image.Image, bytes]:
    """The age of the newest sample of two stations on one switch, and one on another."""
    observations, _ = watched("network", HORIZON)
    minutes = np.arange(1, HORIZON + 1) * TICK / 60
    pen, charts = _panels([f"intensity {each}" for each in SHOWN], (0, 64), (0, 60))
    for row, chart in enumerate(charts):
        chart.grid((0, 15, 30, 45, 60), (0, 16, 32, 48, 64), "min")
        for station, ink in ((2, SENSOR), (8, TRUTH), (12, GREEN)):
            chart.curve(minutes, 16 * observations[:, row, place(f"station[{station}].age")], ink, 2)
    pen.text((12, 12), "Age of the newest sample [ticks]:", 14)
    for at, said, ink in ((238, "station 2", SENSOR), (312, "station 8", TRUTH), (386, "station 12", GREEN)):
        pen.text((at, 12), said, 14, ink)
    return pen.image, observations.tobytes()


def load() -> tuple[Image.Image, bytes]:
    """The scan time that a station reports."""
    observations, _ = watched("load", HORIZON)
    minutes = np.arange(1, HORIZON + 1) * TICK / 60
    pen, charts = _panels([f"intensity {each}" for each in SHOWN], (0, 4), (0, 60))
    for row, chart in enumerate(charts):
        chart.grid((0, 15, 30, 45, 60), (0, 1, 2, 3, 4), "min")
        chart.curve(minutes, observations[:, row, place("station[2].scan")], SENSOR, 1)
        chart.level(TRIP_SCAN)
    pen.text(
        (12, 12), "Scan time that station 2 reports [nominal scan times]; dotted: beyond this the watchdog trips", 14
    )
    return pen.image, observations.tobytes()


def split() -> tuple[Image.Image, bytes]:
    """What each of the 10 245 variants is for."""
    found = roles()
    inks = {
        "train 6,650": BLUE,
        "train, validation 350": SENSOR,
        "iid 200": AMBER,
        "extrapolation 1,800": VIOLET,
        "unseen-template 1,245": TRUTH,
    }
    high, wide = 16, found.shape[1] * 2
    palette = np.array([[int(ink[at : at + 2], 16) for at in (1, 3, 5)] for ink in inks.values()], np.uint8)
    mosaic = palette[found].repeat(high, 0).repeat(2, 1)
    pen = Pen(wide + 130, 15 * high + 2 * 8 + 62)
    for number, family in enumerate(FAMILIES):
        top = 30 + number * (5 * high + 8)
        block = Image.fromarray(mosaic[number * 5 * high : (number + 1) * 5 * high])
        pen.image.paste(block, (118, top))
        for intensity in range(5):
            pen.text((110, top + high * (intensity + 0.5)), f"{family} {intensity + 1}", 12, INK, "rm")
    pen.text((118, 14), "600 templates that training meets", 13)
    pen.text((118 + 1200 + 4, 14), "83 that it never meets", 13)
    x = 118.0
    for said, ink in inks.items():
        y = pen.image.height - 16
        pen.box((x, y - 7, x + 18, y + 7), ink, INK, 1, 2)
        pen.text((x + 25, y), said, 13)
        x += 70 + 7.2 * len(said)
    return pen.image, found.tobytes()


FIGURES: dict[str, Callable[[], tuple[Image.Image, bytes]]] = {
    "line": line,
    "topologies": topologies,
    "sensor": sensor,
    "network": network,
    "load": load,
    "split": split,
}


def digest(shown: bytes) -> str:
    """Return what a file says of the content that it shows."""
    return hashlib.sha256(shown).hexdigest()


def main() -> None:
    """Draw all figures."""
    IMAGES.mkdir(exist_ok=True)
    for name, draw in FIGURES.items():
        image, shown = draw()
        about = PngInfo()
        about.add_text("shown", digest(shown))
        path = IMAGES / f"{name}.png"
        image.save(path, optimize=True, pnginfo=about)
        print(f"{path.relative_to(IMAGES.parent.parent)}: {path.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main()
