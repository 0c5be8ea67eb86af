"""Document: the page itself, put together from its template, its scripts and its styles."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2

from rolf import __version__
from rolf.leaderboard.board import Board, Estimate
from rolf.leaderboard.page import protection
from rolf.leaderboard.page.episodes import shown
from rolf.leaderboard.page.panel import NAME, Panel, panels
from rolf.leaderboard.page.text import title, visible, web_address

SCRIPTS = (
    "vendor/d3.min.js",
    "vendor/plot.umd.min.js",
    "vendor/asciinema-player.min.js",
    "elements.js",
    "charts.js",
    "figures.js",
    "episode.js",
    "page.js",
)
"""In the order in which they run."""
MIB = 1 << 20
STYLES = ("vendor/asciinema-player.css", "page.css", "episode.css")


def page(board: Board, folder: Path) -> str:
    """Return a leaderboard as one HTML file that opens from disk and asks nothing of any network.

    Args:
        board: What is shown.
        folder: Where the submissions lie, for the episodes that can be looked at.
    """
    scripts = [_file(name) for name in SCRIPTS]
    styles = [_file(name) for name in STYLES]
    parts = panels(board, list(shown(board, folder)))
    return (
        _environment()
        .get_template("page.html")
        .render(
            board=board,
            panels=parts,
            data=[protection.embedded(_data(panel)) for panel in parts],
            policy=protection.content_security_policy(scripts, (*styles, protection.PLOT_STYLE)),
            scripts=[protection.inline(script) for script in scripts],
            styles=[protection.inline(style) for style in styles],
            licences=_licences(),
            version=__version__,
        )
    )


@cache
def _file(name: str) -> str:
    return files("rolf.leaderboard.page").joinpath(name).read_text(encoding="utf-8")


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=jinja2.FunctionLoader(_file),
        # Whatever a template prints goes through here, so that no name of a stranger's is forgotten.
        finalize=lambda value: visible(value) if type(value) is str else value,
    )
    environment.filters |= {"figure": figure, "interval": interval, "limit": limit, "signed": signed, "title": title}
    environment.tests["followed"] = lambda address: web_address(address) is not None
    return environment


def figure(value: float) -> str:
    """Return a figure as tables show it."""
    text = f"{value:.3f}"
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", "−")


def signed(value: float) -> str:
    """Return a difference as tables show it."""
    text = figure(value)
    return text if text.startswith("−") else f"+{text}"


def interval(estimate: Estimate) -> str:
    """Return an interval as tables show it; empty: too few variants to tell."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f"{figure(estimate.low)} to {figure(estimate.high)}"


def limit(value: Any, name: str) -> str:
    """Return what an episode may use, as people say it."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and name.endswith("bytes") and value > 0 and value % MIB == 0:
        return f"{value // MIB:,} Mi"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _data(panel: Panel) -> dict[str, Any]:
    """Return what the charts of a panel are drawn from."""
    board = Board((panel.board,)).as_json()["splits"][0]
    for entry in board["entries"]:
        for key in ("samples", "policy", "digest"):
            del entry[key]
        ink = panel.inks[entry["name"]]
        entry["label"] = panel.names[entry["name"]]
        entry["ink"] = {"colour": f"var({ink.colour})", "dash": ink.dash, "symbol": ink.symbol}
    board["attempts"] = panel.board.attempts
    return {key: board[key] for key in ("split", "attempts", "entries")} | {"label_length": NAME}


def _licences() -> list[tuple[str, str]]:
    """Return the licences of what the page holds of others, whose copies must say so."""
    listed = json.loads(_file("vendor/files.json"))
    return [
        (f"{each['package']} {each['version']} ({each['licence']})", _file(f"vendor/{name}"))
        for name, each in listed.items()
        if name.startswith("LICENSE")
    ]
