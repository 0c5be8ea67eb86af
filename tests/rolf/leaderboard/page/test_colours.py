"""The page's colours: read by everybody, told apart by the colour-blind, on light paper and on dark."""

from __future__ import annotations

import re
from importlib.resources import files
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from rolf.leaderboard.page.panel import COLOURS, GREYS

Colour = NDArray[np.float64]

DEFICIENCIES = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
"""How linear RGB is seen: Machado, Oliveira, Fernandes 2009, severity 1.0."""
FIRST = 5
"""Colours that every board of some size uses; those beyond are told apart by dashes and symbols as well."""
APART = 9.0
"""Difference in CIELAB (1976); 2.3 is just noticeable side by side."""


def palette(number: int) -> dict[str, Colour]:
    """Return the named colours, on light paper (0) or on dark (1)."""
    text = files("rolf.leaderboard.page").joinpath("page.css").read_text(encoding="utf-8")
    pairs = re.findall(r"--([a-z0-9-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", text)
    return {name: linear(both[number]) for name, *both in pairs}


def linear(code: str) -> Colour:
    """Return linear RGB of a code."""
    value = np.array([int(code[n : n + 2], 16) / 255 for n in (1, 3, 5)])
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def contrast(one: Colour, other: Colour) -> float:
    """Return the contrast ratio: WCAG 2.2."""
    bright, dark = sorted((float(each @ [0.2126, 0.7152, 0.0722]) for each in (one, other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def lab(colour: Colour) -> Colour:
    """Return CIELAB under D65."""
    matrix = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = np.array(matrix) @ np.clip(colour, 0, 1) / [0.9505, 1.0, 1.089]
    root = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


@pytest.mark.parametrize("paper", [0, 1], ids=["light", "dark"])
def test_text_can_be_read(paper: int) -> None:
    """4.5:1, WCAG's AA."""
    colours = palette(paper)
    low = {
        (name, ground): round(contrast(colours[name], colours[ground]), 2)
        for name in ("text", "dim", "accent", "good", "bad", "warn")
        for ground in ("paper", "raised", "soft")
        if contrast(colours[name], colours[ground]) < 4.5
    }
    assert low == {}
    for shade in ("more-1", "more-2", "more-3", "less-1", "less-2", "less-3"):
        assert contrast(colours["text"], colours[shade]) >= 4.5, shade


@pytest.mark.parametrize("paper", [0, 1], ids=["light", "dark"])
def test_lines_can_be_seen(paper: int) -> None:
    """3:1 for what is drawn, WCAG 1.4.11; their names are written in the same colour, bold."""
    colours = palette(paper)
    inks = [f"ink-{n}" for n in range(COLOURS)] + [f"grey-{n}" for n in range(GREYS)]
    low = {name: contrast(colours[name], colours["paper"]) for name in inks}
    assert {name: value for name, value in low.items() if value < 3.0} == {}


@pytest.mark.parametrize("paper", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("deficiency", [None, *DEFICIENCIES])
def test_the_colour_blind_tell_policies_apart(paper: int, deficiency: str | None) -> None:
    colours = palette(paper)
    matrix = np.eye(3) if deficiency is None else np.array(DEFICIENCIES[deficiency])
    seen = {name: lab(matrix @ colours[name]) for name in (*(f"ink-{n}" for n in range(FIRST)), "grey-0")}
    close = {
        (a, b): round(float(np.linalg.norm(seen[a] - seen[b])), 1)
        for a, b in combinations(seen, 2)
        if np.linalg.norm(seen[a] - seen[b]) < APART
    }
    assert close == {}
