"""The figures of the page on credit show the numbers that are found now."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

DOCS = Path(__file__).parents[3] / "docs"
SCRIPT: dict[str, Any] = runpy.run_path(str(DOCS / "credit_figures.py"))


@pytest.mark.parametrize("name", SCRIPT["FIGURES"])
def test_figure_shows_the_credit_that_is_given(name: str) -> None:
    """Another rule leaves old numbers behind; `python docs/credit_figures.py` draws them anew."""
    draw: Callable[[], tuple[Image.Image, bytes]] = SCRIPT["FIGURES"][name]
    image, shown = draw()
    with Image.open(DOCS / "images" / f"{name}.png") as kept:
        assert kept.info["shown"] == SCRIPT["digest"](shown)
        assert kept.size == image.size
