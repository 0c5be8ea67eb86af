"""``rolf doctor``: what works on this machine, and what to do about the rest."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rolf.environments import Finding


@click.command("doctor", short_help="Say what works on this machine.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line instead of a table.")
def command(as_json: bool) -> None:
    """Say what works on this machine, found by trying, and what to do about the rest.

    Exit code 1 when something is missing without which an environment cannot start.
    """
    from rolf.environments import State, environments

    found = [(env_id, finding) for env_id, env in environments().items() for finding in env.checkup()]
    if as_json:
        for env_id, finding in found:
            row = {"subject": finding.subject, "state": finding.state, "found": finding.found, "advice": finding.advice}
            click.echo(json.dumps({"environment": env_id, **row}))
    else:
        _print_lines(found)
    if any(finding.state is State.MISSING for _, finding in found):
        raise SystemExit(1)


def _print_lines(found: list[tuple[str, Finding]]) -> None:
    """Print a line a finding, and below it what to do; advice is often a line to copy, so it is not wrapped."""
    from rich.console import Console
    from rich.text import Text

    colours = {"ok": "green", "limited": "yellow", "missing": "red"}
    console = Console(highlight=False)
    for _, finding in found:
        line = Text(f"{finding.state:8}", style=colours[finding.state]).append(f" {finding.subject:20}", "bold")
        console.print(line.append(finding.found, "default"), soft_wrap=True)
        if finding.advice:
            console.print(Text(f"{'':29}{finding.advice}", style="dim"), soft_wrap=True)
