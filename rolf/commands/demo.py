"""``rolf demo``: one real episode, step by step, then thousands of production lines, and what both cost."""

from __future__ import annotations

from pathlib import Path

import click

from rolf.commands.usage import WrongUsage


@click.command("demo", short_help="Play one real episode, then thousands of lines; show what both cost.")
@click.option("--task", default="git-dirty-pull", show_default=True, help="The task; see `rolf list`.")
@click.option("--seed", type=click.IntRange(min=0), default=7, show_default=True, help="The world.")
@click.option("--shells", type=click.IntRange(min=1), default=64, show_default=True, help="Shells to step at once.")
@click.option(
    "--lines", type=click.IntRange(min=1), default=7000, show_default=True, help="Production lines to play at once."
)
@click.option(
    "--report",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("runs/demo/report.html"),
    show_default=True,
    help="Where the page goes.",
)
def command(task: str, seed: int, shells: int, lines: int, report: Path) -> None:
    """Play one episode in a real terminal, then thousands of production lines, and show what happened.

    The oracle of TASK solves it step by step: each command with its output, event, checks and reward terms, then
    what differs from the initial state, the time of a reset beside one rsync of the same files, and the steps a
    second of many shells. Then an expert looks after production lines for a whole shift: one work order told
    through, the steps a second of all lines, and how many faults were repaired in time, by what disturbed the lines.
    All of it goes into one HTML page that opens from disk. No root, no container, no network. The first run compiles
    the production line, which takes half a minute more.
    """
    from rolf.demo.show import show

    try:
        report.parent.mkdir(parents=True, exist_ok=True)  # said now, not after a minute of measuring
        report.open("a").close()
    except OSError as error:
        raise WrongUsage(f"--report {str(report)!r}: {error.strerror}; give a path that can be written") from error
    try:
        written = show(task, seed, shells, lines, report)
    except (LookupError, ValueError) as error:
        raise WrongUsage(str(error)) from error
    except RuntimeError as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"\nThe same as a page: {written.resolve().as_uri()}", err=True)
