"""``rolf list``: what there is."""

from __future__ import annotations

import json

import click


@click.command("list", short_help="List environments and what can be played in them.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of a table.")
def command(as_json: bool) -> None:
    """List the environments and what can be played in them: tasks with their causes, sets of production lines."""
    from dataclasses import asdict

    from rolf.environments import environments

    found = environments()
    if as_json:
        rows = {
            env_id: {
                "summary": environment.SUMMARY,
                "example": environment.EXAMPLE,
                "tasks": [asdict(task) for task in environment.tasks()],
            }
            for env_id, environment in found.items()
        }
        click.echo(json.dumps(rows, indent=2))
        return

    from rich.console import Console
    from rich.table import Table

    console = Console()
    for env_id, environment in found.items():
        tasks = environment.tasks()
        table = Table(*environment.HEADINGS, title=f"{env_id}: {environment.SUMMARY}", title_justify="left", box=None)
        for task in tasks:
            table.add_row(task.name, task.summary, ", ".join(task.causes))
        console.print(table)
        click.echo(f"\n{environment.EXAMPLE}\n", err=True)
