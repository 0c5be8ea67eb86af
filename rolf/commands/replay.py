"""``rolf replay``: does a recorded episode still go the same way?"""

from __future__ import annotations

import click

from rolf.commands.usage import WrongUsage


@click.command("replay", short_help="Play a recorded trajectory again.")
@click.argument("file")
def command(file: str) -> None:
    """Play a recorded trajectory again and name the first step that differs.

    FILE is what `rolf_wrappers.RecordTrajectory` or `rolf eval` wrote, compressed or not; BLOCK.jsonl.gz#3 is the third
    episode of a file that holds several. Exit code 0: every step was the same; 1: one was not; 2: it could not be
    played.
    """
    import gymnasium

    from rolf.replay import replay

    try:
        report = replay(file)
    except OSError as error:
        raise WrongUsage(f"{file!r}: {error.strerror or error}; give a file that can be read") from error
    except (gymnasium.error.Error, LookupError, RuntimeError, ValueError) as error:
        raise WrongUsage(str(error)) from error
    click.echo(str(report))
    if not report.equal:
        raise SystemExit(1)
