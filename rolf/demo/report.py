"""The demo as one HTML file that opens from disk: no script, nothing to fetch, every text escaped."""

from __future__ import annotations

import base64
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import jinja2

from rolf import __version__
from rolf.demo.chart import draw
from rolf.demo.measure import ResetCost, Throughput
from rolf.exhibit import Section
from rolf.screen import as_seen
from rolf.step import Step


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that the page shows."""

    env_id: str
    task: str
    instruction: str
    steps: Sequence[Step]
    has_goal: bool
    diff: Sequence[Sequence[str | None]]
    cost: ResetCost
    throughput: Throughput
    notes: Sequence[str]
    """What this machine lacks, with the line that installs it."""
    sections: Sequence[Section] = ()
    """What other environments show of themselves."""

    @property
    def verdict(self) -> str:
        """What came of it, in a sentence."""
        if not self.has_goal:
            return "There was no goal."
        return "The goal is reached." if self.steps[-1].info["success"] else "The goal is not reached."

    @property
    def digest(self) -> str | None:
        """The digest of the files at the end, if the episode came to one."""
        return self.steps[-1].info.get("state_digest")

    @property
    def total(self) -> float:
        """The undiscounted return."""
        return sum(step.reward for step in self.steps)


def render(report: Report) -> str:
    """Return the page."""
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    environment.filters["as_seen"] = lambda output: as_seen(output).plain
    environment.filters["drawn"] = draw
    environment.filters["inline"] = _inline
    environment.tests["block"] = lambda block, name: type(block).__name__ == name
    template = environment.from_string(files("rolf.demo").joinpath("report.html").read_text(encoding="utf-8"))
    machine = f"Linux {platform.release()}, {os.cpu_count()} CPUs, Python {platform.python_version()}"
    fields = {name: getattr(report, name) for name in Report.__slots__}
    return template.render(
        **fields, total=report.total, verdict=report.verdict, digest=report.digest, version=__version__, machine=machine
    )


def _inline(png: bytes) -> str:
    """Return a picture as an address that holds it."""
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"


def write(report: Report, path: Path) -> None:
    """Write the page, directories included."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Bytes of a terminal that are no text are surrogates here; a page must be valid UTF-8.
    path.write_bytes(render(report).encode("utf-8", "replace"))
