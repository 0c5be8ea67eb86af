"""``python -m linegym.ladder``: the ladder of policies as a table, Markdown or JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from linegym.ladder import Ladder

PAGE = """# The ladder

How far the policies that come with the line get on {played} episodes, the same ones for every policy: templates drawn
by hash, each under each family at each intensity, in the evaluation namespace. Made by
`{made_by}`.

The two policies in the middle tell where the expert loses: *oracle diagnosis* is told every fault and orders and sends
as the expert does; *oracle dispatch* finds faults as the expert does and has the oracle's store and crew.

{tables}
"""
EXPLAINED = {
    "returns": "Return",
    "score": "Score: 0 is random, 1 the oracle, per variant",
    "success": "Episodes that succeed: every fault that counts repaired in time, 0.9 of the oracle's output",
    "repaired": "Faults that count, closed rightly in time",
    "mended": "Faults closed rightly, in time or not",
}


@click.command("ladder")
@click.option("--templates", default=20, show_default=True, help="Lines to play, of 683.")
@click.option("--seeds", default=1, show_default=True, help="Episodes of each variant.")
@click.option("--intensity", "intensities", multiple=True, type=click.IntRange(0, 7), help="May be repeated. [1 … 5]")
@click.option("--policy", "policies", multiple=True, help="May be repeated. [all]")
@click.option("--threads", default=1, show_default=True, help="Threads that step the lines.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON to stdout.")
@click.option("--markdown", type=click.Path(path_type=Path), help="Write the tables to this file too.")
def command(
    templates: int,
    seeds: int,
    intensities: tuple[int, ...],
    policies: tuple[str, ...],
    threads: int,
    as_json: bool,
    markdown: Path | None,
) -> None:
    """Play the policies that come with the line on the same episodes, and show how far each gets."""
    from linegym.errors import ArgumentError
    from linegym.ladder import ladder, sample
    from linegym.perturbations import BENCHMARK
    from linegym.policies import POLICIES

    variants = sample(templates, intensities or BENCHMARK)
    try:
        found = ladder(policies or tuple(POLICIES), variants, range(seeds), threads=threads)
    except ArgumentError as error:
        raise click.UsageError(str(error)) from error
    if markdown is not None:
        markdown.write_text(_page(found, templates, seeds))
    if as_json:
        click.echo(json.dumps([asdict(cell) for cell in found.cells], indent=1))
        return
    _print(found)


def _page(found: Ladder, templates: int, seeds: int) -> str:
    """Return the page for the documentation."""
    tables = "\n\n".join(f"## {title}\n\n{found.markdown(measure)}" for measure, title in EXPLAINED.items())
    made_by = f"python -m linegym.ladder --templates {templates} --seeds {seeds}"
    return PAGE.format(played=_episodes(found), made_by=made_by, tables=tables)


def _episodes(found: Ladder) -> int:
    """Return how many episodes each policy played."""
    first = found.policies()[0]
    return sum(cell.episodes for cell in found.cells if cell.policy == first)


def _print(found: Ladder) -> None:
    """Print the tables to the terminal."""
    from rich.console import Console

    console = Console()
    for measure in EXPLAINED:
        console.print(found.table(measure))
