"""``python -m rolf_adapters.openenv ENV_ID``: serve an environment on this machine. Prints the URL."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click
import gymnasium

from rolf_adapters.openenv.server import LOOPBACK, app, serve
from rolf_adapters.openenv.session import DEADLINE


@click.command(help=__doc__)
@click.argument("env_id")
@click.option("--arguments", default="{}", help="For gymnasium.make, as JSON.")
@click.option("--host", default=LOOPBACK, show_default=True, help="Address to listen on; nobody is asked who they are.")
@click.option("--port", default=8000, show_default=True, help="Port; 0: a free one.")
@click.option("--sessions", default=32, show_default=True, help="Most sessions at a time.")
@click.option("--deadline", default=DEADLINE, show_default=True, help="How long a reset or a step may take [s].")
@click.option("--told", default="tags", show_default=True, help="Layout: json, tags, transcript.")
@click.option("--choice", multiple=True, help="Another argument that clients may choose; may be given several times.")
def main(
    env_id: str, arguments: str, host: str, port: int, sessions: int, deadline: float, told: str, choice: Sequence[str]
) -> None:
    """Serve an environment."""
    try:
        given: Any = json.loads(arguments)
    except ValueError as error:
        raise click.UsageError(f"--arguments {arguments!r} is not JSON: {error}") from error
    if not isinstance(given, dict):
        raise click.UsageError(f"--arguments {arguments!r} is no object; give {{NAME: VALUE}}")
    try:
        application = app(env_id, given, sessions=sessions, deadline=deadline, told=told, choices=choice)
    except (gymnasium.error.Error, ImportError, LookupError, TypeError, ValueError) as error:
        raise click.UsageError(str(error)) from error
    try:
        serve(application, host=host, port=port, ready=lambda url: click.echo(url))
    except OSError as error:
        raise click.ClickException(str(error.strerror or error)) from error


if __name__ == "__main__":
    main(prog_name="python -m rolf_adapters.openenv")
