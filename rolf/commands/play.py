"""``rolf play``: sit down in the agent's chair."""

from __future__ import annotations

import click

from rolf.commands.usage import WrongUsage


@click.command("play", short_help="Type into an environment yourself.")
@click.argument("task", default="blank")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The world.")
@click.option("--backend", default="local", show_default=True, help="Where the shell runs.")
@click.option("--reward", default="terms", show_default=True, help="terms, success or shaped.")
def command(task: str, seed: int, backend: str, reward: str) -> None:
    """Type into an environment and see what an agent would get back.

    A plain line is a command for the shell. A line that starts with a colon speaks to the environment: `:help` lists
    what it can do. ^C interrupts the command that runs. TASK is one of `rolf list`; without it you get a shell
    without a goal. Lines may come from a pipe.
    """
    from rolf.play import Play

    try:
        with Play(task, seed=seed, backend=backend, reward=reward) as play:
            play.run()
    except (LookupError, ValueError) as error:
        raise WrongUsage(str(error)) from error
    except RuntimeError as error:
        raise click.ClickException(str(error)) from error
