"""A chart as inline SVG: it follows the page's colours, light or dark, and needs nothing from elsewhere."""

from __future__ import annotations

import math
from collections.abc import Iterator

from markupsafe import Markup, escape

from rolf.exhibit import Chart, Series

WIDTH, HEIGHT = 460, 260
LEFT, RIGHT, TOP, BOTTOM = 52, 14, 34, 44
COLOURS = ("#1769c2", "#c2571a", "#3f9142", "#8a63d2")
"""Told apart by the colour-blind too, on white and on black."""
STEPS = 5
"""Spaces between grid lines, at most."""


def draw(chart: Chart) -> Markup:
    """Return the chart as an SVG element."""
    frame = _Frame(chart)
    parts = [*_grid(chart, frame)]
    for series, colour in zip(chart.series, COLOURS, strict=False):
        parts.extend(_line(series, colour, frame))
    parts.extend((*_marks(chart, frame), *_legend(chart)))
    label = f'role="img" aria-label="{escape(chart.title)}"'
    return Markup(f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" {label}>{"".join(parts)}</svg>')


class _Frame:
    """Where values lie on the paper."""

    def __init__(self, chart: Chart) -> None:
        points = [point for series in chart.series for point in series.points]
        across, up = [x for x, _ in points], [y for _, y in points]
        self.first, self.last = min(across), max(across)
        low = min(up) if chart.least is None else min(*up, chart.least)
        high = max(up) if chart.most is None else max(*up, chart.most)
        self.span = _span(self.first, self.last)
        self.step = _round_step(_span(low, high))
        self.low = math.floor(low / self.step) * self.step
        self.high = max(math.ceil(high / self.step) * self.step, self.low + self.step)

    def x(self, value: float) -> float:
        """Return the place of a value on the horizontal axis."""
        return LEFT + (value - self.first) / self.span * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        """Return the place of a value on the vertical axis."""
        return HEIGHT - BOTTOM - (value - self.low) / (self.high - self.low) * (HEIGHT - TOP - BOTTOM)


def _span(low: float, high: float) -> float:
    """Return the length of an axis; 1 where the values are the same, or would be told apart by rounding alone."""
    span = high - low
    return span if span > max(abs(low), abs(high), 1.0) * 1e-9 else 1.0


def _round_step(span: float) -> float:
    """Return a round number that goes into a span a few times."""
    unit: float = 10.0 ** math.floor(math.log10(span / STEPS))
    return next(unit * factor for factor in (1, 2, 5, 10) if unit * factor * STEPS >= span)


def _grid(chart: Chart, frame: _Frame) -> Iterator[str]:
    for number in range(round((frame.high - frame.low) / frame.step) + 1):
        value = frame.low + number * frame.step
        y = frame.y(value)
        yield f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text x="{LEFT - 7}" y="{y + 4:.1f}" text-anchor="end">{value:.10g}</text>'
    for value in _ticks(frame):
        yield f'<text x="{frame.x(value):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{value:.10g}</text>'
    middle = (LEFT + WIDTH - RIGHT) / 2
    yield f'<text x="{middle:.0f}" y="{HEIGHT - 8}" text-anchor="middle">{escape(chart.across)}</text>'


def _ticks(frame: _Frame) -> Iterator[float]:
    step = _round_step(frame.span)
    first, last = math.ceil(frame.first / step - 1e-6), math.floor(frame.last / step + 1e-6)
    yield from (number * step for number in range(first, last + 1))


def _marks(chart: Chart, frame: _Frame) -> Iterator[str]:
    for number, (moment, word) in enumerate(chart.marks):
        x = frame.x(moment)
        y = TOP + 10 + 12 * number  # one below the other: moments can lie close together
        yield f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>'
        late = x + 7 * len(word) > WIDTH - RIGHT
        place = f'x="{x - 4:.1f}" text-anchor="end"' if late else f'x="{x + 4:.1f}"'
        yield f'<text class="halo" {place} y="{y}">{escape(word)}</text>'


def _line(series: Series, colour: str, frame: _Frame) -> Iterator[str]:
    spots = [(frame.x(x), frame.y(y)) for x, y in series.points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
    yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
    if series.dotted:
        yield from (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in spots)


def _legend(chart: Chart) -> Iterator[str]:
    x = float(LEFT)
    for series, colour in zip(chart.series, COLOURS, strict=False):
        yield f'<rect x="{x:.0f}" y="10" width="14" height="4" fill="{colour}"/>'
        yield f'<text x="{x + 19:.0f}" y="16">{escape(series.name)}</text>'
        x += 36 + 6.6 * len(series.name)
