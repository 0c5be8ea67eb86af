"""``rolf tasks``: are the tasks fit to be counted?"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING

import click

from rolf.commands.export import bring, export
from rolf.commands.lint import lint
from rolf.commands.rootfs import rootfs
from rolf.commands.usage import WrongUsage

if TYPE_CHECKING:
    from rolf.environments import Verdict
    from rolf.results import Results
    from rolf.validating import Share


@click.group("tasks", short_help="Validate, lint, export and import tasks.")
def command() -> None:
    """Work with the tasks of the installed environments."""


command.add_command(lint)
command.add_command(export)
command.add_command(bring)
command.add_command(rootfs)


@command.command(short_help="Play each oracle, and nothing, in real worlds.")
@click.argument("names", nargs=-1, metavar="[NAME|PATH]...")
@click.option("--seeds", type=click.IntRange(min=1), default=1, show_default=True, help="Worlds per task and cause.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes that play.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line instead of a table.")
@click.option("-v", "--verbose", is_flag=True, help="Tell what is noted of valid tasks too.")
@click.option(
    "--results",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Add each verdict to this file, a JSON object a line; a run that was stopped goes on from it.",
)
@click.option("--build-network", is_flag=True, help="Let images of task folders be built with the network.")
def validate(
    names: tuple[str, ...],
    seeds: int,
    jobs: int,
    as_json: bool,
    verbose: bool,
    results: Path | None,
    build_network: bool,
) -> None:
    """Play each task's oracle, and nothing at all, in real worlds.

    A task is valid when its oracle succeeds, doing nothing does not, and the same seed gives the same world. NAME is
    a task or TASK/CAUSE, a set of production lines or the id of one, or MODULE:NAME for a task of your own in a file
    here; PATH is a task folder, or a folder of them; without either all tasks are validated. FAULT: the
    machine failed, a service that never became ready included, and nothing is known of the task. Exit code 1 when any
    is not valid.

    With --results a verdict that is in the file already is not made again, unless it is a fault or the task has
    changed.
    """
    from rolf.results import Results

    if any(":" in name.partition("/")[0] for name in names):
        sys.path.insert(0, "")  # an installed command does not look in the working directory, where MODULE lies
    began = time.monotonic()
    try:
        with Results(results) if results is not None else nullcontext() as kept:
            tell = partial(_written, as_json=as_json, verbose=verbose)
            tally = _validate(names, seeds, jobs, kept, build_network, tell)
    except (LookupError, ValueError) as error:
        raise WrongUsage(str(error)) from error
    except RuntimeError as error:  # no machine to validate on
        raise click.ClickException(str(error)) from error
    click.echo(f"{tally}; {time.monotonic() - began:.0f} s", err=True)
    if tally.valid < tally.count:
        raise SystemExit(1)


class _Tally:
    """How many verdicts there were, by kind."""

    def __init__(self) -> None:
        self.count = self.valid = self.faults = self.kept = 0

    def add(self, verdict: Verdict) -> None:
        self.count += 1
        self.valid += verdict.valid
        self.faults += not verdict.valid and not verdict.problems

    def __str__(self) -> str:
        invalid = self.count - self.valid - self.faults
        parts = [f"{self.valid} of {self.count} valid"]
        parts += [f"{invalid} invalid"] if invalid else []
        parts += [f"{self.faults} faults" if self.faults > 1 else "1 fault"] if self.faults else []
        parts += [f"{self.kept} from an earlier run"] if self.kept else []
        return ", ".join(parts)


def _validate(
    names: tuple[str, ...],
    seeds: int,
    jobs: int,
    results: Results | None,
    build_network: bool,
    written: Callable[[Verdict], str],
) -> _Tally:
    """Validate what is named and tell each verdict."""
    from rolf.validating import kept, shares, validated

    todo, tally = shares(names, seeds), _Tally()
    with _progress(todo) as say:
        for share in todo:
            for _, verdict in kept(share, results):
                tally.kept += 1
                tally.add(verdict)
                say(written(verdict))
            for verdict in validated(share, seeds, jobs, results, build_network=build_network):
                tally.add(verdict)
                say(written(verdict))
    return tally


@contextmanager
def _progress(todo: list[Share]) -> Iterator[Callable[[str], None]]:
    """Show a bar on stderr while verdicts are told, if a person looks at it."""
    if not sys.stderr.isatty():
        yield click.echo
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

    total = None if any(share.cases is None for share in todo) else sum(len(share.cases or ()) for share in todo)
    columns = BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("validating", total=total)

        def say(text: str) -> None:
            if sys.stdout.isatty():  # the same screen as the bar, which has to move down
                bar.console.print(text, markup=False, highlight=False, soft_wrap=True)
            else:
                click.echo(text)
            bar.advance(task)

        yield say


def _written(verdict: Verdict, *, as_json: bool, verbose: bool) -> str:
    """Return one verdict as lines of text."""
    from rolf.results import told

    if as_json:
        return json.dumps(told(verdict))
    said = "ok" if verdict.valid else "INVALID" if verdict.problems else "FAULT"
    count = len(verdict.notes)
    hint = f"  ({count} note{'s' * (count > 1)}: -v)" if count and verdict.valid and not verbose else ""
    lines = [f"{said:<8}{verdict.seconds:6.2f} s  {verdict.task}{hint}"]
    fault = [f"the machine failed: {verdict.fault}"] if verdict.fault else []
    lines += [indent(line, " " * 18) for line in (*verdict.problems, *fault)]
    lines += [indent(f"note: {line}", " " * 18) for line in verdict.notes if not hint]
    return "\n".join(lines)
