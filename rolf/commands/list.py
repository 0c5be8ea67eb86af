"""``rolf list``: what there is."""

from __future__ import annotations

import json

import click


@click.command("list", short_help="List environments, tasks and causes.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of a table.")
def command(as_json: bool) -> None:
    """List the environments, their tasks, and the causes behind each task's symptom."""
    from dataclasses import asdict

    from rolf.environments import environments

    found = environments()
    if as_json:
        rows = {
            env_id: {"summary": environment.SUMMARY, "tasks": [asdict(task) for task in environment.tasks()]}
            for env_id, environment in found.items()
        }
        click.echo(json.dumps(rows, indent=2))
        return

    from rich.console import Console
    from rich.table import Table

    console = Console()
    for env_id, environment in found.items():
        tasks = environment.tasks()
        table = Table(
            "task", "symptom", "causes", title=f"{env_id}: {environment.SUMMARY}", title_justify="left", box=None
        )
        for task in tasks:
            table.add_row(task.name, task.summary, ", ".join(task.causes))
        console.print(table)
        if tasks:
            name = tasks[0].name
            click.echo(
                f'\nMake one with gymnasium.make("{env_id}", task="{name}"); "{name}/CAUSE" pins the cause.', err=True
            )
