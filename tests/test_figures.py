"""The figures of the documentation show what is so now."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

DOCS = Path(__file__).parent.parent / "docs"
SCRIPT: dict[str, Any] = runpy.run_path(str(DOCS / "line_figures.py"))
CREDIT: dict[str, Any] = runpy.run_path(str(DOCS / "credit_figures.py"))
"""Its figures need torch: tests/adapters/ppo/test_credit_figures.py draws them."""


@pytest.mark.parametrize("name", SCRIPT["FIGURES"])
def test_figure_shows_what_the_line_does_now(name: str) -> None:
    """A changed law or intensity leaves old curves behind; `python docs/line_figures.py` draws them anew."""
    draw: Callable[[], tuple[Image.Image, bytes]] = SCRIPT["FIGURES"][name]
    _, shown = draw()
    with Image.open(DOCS / "images" / f"{name}.png") as kept:
        assert kept.info["shown"] == SCRIPT["digest"](shown)


def test_every_picture_is_drawn_by_a_script() -> None:
    """What nobody can draw again will be wrong one day."""
    assert {path.stem for path in (DOCS / "images").iterdir()} == {*SCRIPT["FIGURES"], *CREDIT["FIGURES"]}
