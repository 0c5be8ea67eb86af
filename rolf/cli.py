"""The command line: results on stdout, talk on stderr, exit code 2 for usage."""

from __future__ import annotations

import click

from rolf import __version__
from rolf.commands import board, check, demo, doctor, evaluate, play, replay, split, tasks
from rolf.commands import list as listing


@click.group(
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Documentation: docs/ of the repository; `rolf COMMAND --help` says what a command takes.",
)
@click.version_option(__version__, "--version", "-V", prog_name="rolf", message="%(prog)s %(version)s")
def main() -> None:
    """Reinforcement-learning environments: a real Linux terminal, and a production line."""


for command in (
    board.command,
    check.command,
    demo.command,
    doctor.command,
    evaluate.command,
    listing.command,
    play.command,
    replay.command,
    split.command,
    tasks.command,
):
    main.add_command(command)
