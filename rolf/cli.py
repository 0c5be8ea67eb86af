"""The command line: results on stdout, talk on stderr, exit code 2 for usage."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import cast

import click

from rolf import __version__
from rolf.commands import board, check, demo, doctor, evaluate, play, replay, split, tasks
from rolf.commands import list as listing

GROUP = "rolf.commands"
"""The group of entry points by which other packages add commands: name -> a click command, in a light module."""


class Commands(click.Group):
    """The commands of this package, and those that other installed packages add; these are looked for when needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all, sorted."""
        return sorted({*super().list_commands(ctx), *(entry.name for entry in entry_points(group=GROUP))})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name; what cannot be imported is one that says so."""
        found = super().get_command(ctx, cmd_name)
        if found is not None:
            return found
        entries = tuple(entry_points(group=GROUP, name=cmd_name))
        return _loaded(entries[0]) if entries else None


def _loaded(entry: EntryPoint) -> click.Command:
    try:
        return cast(click.Command, entry.load())
    except (ImportError, AttributeError) as error:
        wrong = f"{entry.value} cannot be imported: {error}"

    def fail() -> None:
        raise click.ClickException(wrong)

    lenient = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}
    return click.Command(entry.name, callback=fail, short_help=f"({wrong})", context_settings=lenient)


@click.group(
    cls=Commands,
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
