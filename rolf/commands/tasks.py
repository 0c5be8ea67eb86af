"""``rolf tasks``: are the tasks fit to be counted?"""

from __future__ import annotations

import json
import sys
from textwrap import indent

import click


@click.group("tasks", short_help="Validate tasks.")
def command() -> None:
    """Work with the tasks of the installed environments."""


@command.command(short_help="Play each oracle, and nothing, in real worlds.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--seeds", type=click.IntRange(min=1), default=1, show_default=True, help="Worlds per task and cause.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line instead of a table.")
def validate(names: tuple[str, ...], seeds: int, as_json: bool) -> None:
    """Play each task's oracle, and nothing at all, in real worlds.

    A task is valid when its oracle succeeds, doing nothing does not, and the same seed gives the same world. NAME is
    a task or TASK/CAUSE, or MODULE:NAME for one of your own in a file here; without one all are validated. Exit code
    1 when any is not valid.
    """
    from rolf.environments import environments

    if any(":" in name for name in names):
        sys.path.insert(0, "")  # an installed command does not look in the working directory, where MODULE lies
    invalid = count = 0
    for environment in environments().values():
        try:
            for verdict in environment.validate(names, seeds):
                count += 1
                invalid += not verdict.valid
                if as_json:
                    row = {"task": verdict.task, "valid": verdict.valid, "problems": verdict.problems}
                    click.echo(json.dumps({**row, "seconds": round(verdict.seconds, 3)}))
                else:
                    click.echo(f"{'ok' if verdict.valid else 'INVALID':<8}{verdict.seconds:6.2f} s  {verdict.task}")
                    for problem in verdict.problems:
                        click.echo(indent(problem, " " * 18))
        except LookupError as error:
            raise click.BadParameter(str(error), param_hint="NAME") from error
    click.echo(f"{count - invalid} of {count} valid", err=True)
    if invalid:
        raise SystemExit(1)
