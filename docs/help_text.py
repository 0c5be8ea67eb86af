"""Write reference/command-line.md from the commands' own --help; a test sees that it is up to date."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from rolf.cli import main as rolf

PAGE = Path(__file__).parent / "reference" / "command-line.md"
WIDTH = 100


def commands(command: click.Command, path: tuple[str, ...] = ("rolf",)) -> Iterator[tuple[str, click.Command]]:
    """Yield a command and all below it with their full names."""
    yield " ".join(path), command
    if isinstance(command, click.Group):
        for name in sorted(command.commands):
            yield from commands(command.commands[name], (*path, name))


def text() -> str:
    """Return the page."""
    parts = ["# The command line\n", "Written by `make help-text` from the commands themselves.\n"]
    for name, command in commands(rolf):
        context = click.Context(command, info_name=name, max_content_width=WIDTH, terminal_width=WIDTH)
        parts.append(f"## `{name}`\n\n```text\n{command.get_help(context)}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(text())
