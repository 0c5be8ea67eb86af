"""Write reference/command-line.md from the commands' own --help; a test sees that it is up to date."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from rolf.cli import main as rolf

PAGE = Path(__file__).parent / "reference" / "command-line.md"
WIDTH = 100


def contexts(command: click.Command, name: str, parent: click.Context | None = None) -> Iterator[click.Context]:
    """Yield the context of a command and of all below it, as a call of each would make it."""
    context = click.Context(
        command,
        info_name=name,
        parent=parent,
        max_content_width=WIDTH,
        terminal_width=WIDTH,
        **command.context_settings,
    )
    yield context
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            assert found is not None
            yield from contexts(found, child, context)


def text() -> str:
    """Return the page."""
    parts = ["# The command line\n", "Written by `make help-text` from the commands themselves.\n"]
    parts.extend(f"## `{one.command_path}`\n\n```text\n{one.get_help()}\n```\n" for one in contexts(rolf, "rolf"))
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(text())
