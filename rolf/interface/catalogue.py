"""The styles by name: those for training, and those that are held out for ``unseen-interface``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module

from rolf.interface.choosing import known
from rolf.interface.style import Style

TRAINING = ("openai-tools", "xml-tags", "fenced-shell", "json-plan", "react")
"""Styles that training may draw."""
HELD_OUT = ("hermes", "python-call", "yaml-front-matter")
"""Styles that it may not: what is reached through them was not learned from them."""
STYLES: Mapping[str, str] = {name: name.replace("-", "_") for name in (*TRAINING, *HELD_OUT)}
"""The module of each in ``rolf.interface.styles``."""


@cache
def style(name: str) -> Style:
    """Return the style of that name.

    Raises:
        LookupError: there is none; the message suggests the nearest.
    """
    known("style", name, STYLES)
    found: Style = import_module(f"rolf.interface.styles.{STYLES[name]}").STYLE
    return found
