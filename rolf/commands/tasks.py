"""``rolf tasks``: are the tasks fit to be counted?"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from textwrap import indent
from typing import TYPE_CHECKING

import click

from rolf.commands.usage import WrongUsage

if TYPE_CHECKING:
    from rolf.environments import Environment, Verdict


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
    a task or TASK/CAUSE, a set of production lines or the id of one, or MODULE:NAME for a task of your own in a file
    here; without one all are validated. FAULT: the
    machine failed, a service that never became ready included, and nothing is known of the task. Exit code 1 when any
    is not valid.
    """
    if any(":" in name.partition("/")[0] for name in names):
        sys.path.insert(0, "")  # an installed command does not look in the working directory, where MODULE lies
    count = valid = 0
    try:
        for verdict in _verdicts(names, seeds):
            count += 1
            valid += verdict.valid
            _tell(verdict, as_json)
    except (LookupError, ValueError) as error:
        raise WrongUsage(str(error)) from error
    except RuntimeError as error:  # no machine to validate on
        raise click.ClickException(str(error)) from error
    click.echo(f"{valid} of {count} valid", err=True)
    if valid < count:
        raise SystemExit(1)


def _verdicts(names: Sequence[str], seeds: int) -> Iterator[Verdict]:
    """Validate what is named, each task in the environment that has it."""
    from rolf.environments import environments

    known = environments()
    shares: dict[str, list[str]] = {env_id: [] for env_id in known}
    for name in names:
        shares[_owner(name, known)].append(name)
    for env_id, share in shares.items():
        if share or not names:
            yield from known[env_id].validate(share, seeds)


def _owner(name: str, known: Mapping[str, Environment]) -> str:
    """Return the id of the environment that a name belongs to, or that knows the nearest to it.

    That one then says what is wrong with the name.

    Raises:
        LookupError: the name is like nothing that there is.
    """
    for env_id, environment in known.items():
        if environment.recognises(name):
            return env_id
    names = {task.name: env_id for env_id, environment in known.items() for task in environment.tasks()}
    near = get_close_matches(name.partition("@")[0].partition("/")[0], names, n=1)
    if not near:
        raise LookupError(f"{name!r} is no task of {', '.join(known)}; `rolf list` shows what there is")
    return names[near[0]]


def _tell(verdict: Verdict, as_json: bool) -> None:
    """Print one verdict."""
    if as_json:
        row = {"task": verdict.task, "valid": verdict.valid, "problems": verdict.problems, "fault": verdict.fault}
        click.echo(json.dumps({**row, "seconds": round(verdict.seconds, 3)}))
        return
    said = "ok" if verdict.valid else "INVALID" if verdict.problems else "FAULT"
    click.echo(f"{said:<8}{verdict.seconds:6.2f} s  {verdict.task}")
    for problem in (*verdict.problems, *([f"the machine failed: {verdict.fault}"] if verdict.fault else ())):
        click.echo(indent(problem, " " * 18))
