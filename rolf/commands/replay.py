"""``rolf replay``: does a recorded episode still go the same way?"""

from __future__ import annotations

from pathlib import Path

import click

from rolf.commands.usage import WrongUsage


@click.command("replay", short_help="Play a recorded trajectory again.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def command(file: Path) -> None:
    """Play a recorded trajectory again and name the first step that differs.

    FILE is what `rolf_wrappers.RecordTrajectory` wrote. Exit code 0: every step was the same; 1: one was not;
    2: it could not be played.
    """
    import gymnasium

    from rolf.replay import replay

    try:
        report = replay(file)
    except (gymnasium.error.Error, LookupError, RuntimeError, ValueError) as error:
        raise WrongUsage(str(error)) from error
    click.echo(str(report))
    if not report.equal:
        raise SystemExit(1)
