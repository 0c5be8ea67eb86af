"""``rolf eval``: how good is a policy?"""

from __future__ import annotations

import json
import re
import shlex
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rolf.commands.usage import WrongUsage

if TYPE_CHECKING:
    from rolf.evaluation.evaluate import Advance, Outcome
    from rolf.evaluation.loading import Spec
    from rolf.evaluation.malformed import Misread
    from rolf.variant import Split

PAUSE = 5.0
"""Between two lines of progress where nobody looks at a bar [s]."""


def arguments(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, Any]:
    """Return KEY=VALUE pairs; a value is JSON where it reads as JSON, else text."""
    found: dict[str, Any] = {}
    for value in values:
        key, equals, text = value.partition("=")
        if not equals or not key.isidentifier():
            raise click.BadParameter(f"{value!r} is not written as KEY=VALUE")
        if key in found:
            raise click.BadParameter(f"{key!r} is given twice")
        try:
            found[key] = json.loads(text)
        except ValueError:
            found[key] = text
    return found


@click.command("eval", short_help="Play a policy on a split.")
@click.option(
    "--split", required=True, metavar="NAME|FILE", help="A split of `rolf split list`, or a file; [:N]: part."
)
@click.option("--policy", required=True, metavar="NAME|MODULE:OBJECT", help="One that is shipped, or your own.")
@click.option("--policy-arg", "args", multiple=True, metavar="KEY=VALUE", callback=arguments, help="Argument for it.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the submission. [submissions/SPLIT--NAME]",
)
@click.option("--attempts", type=click.IntRange(1, 1_000), help="At each variant. [as the split says]")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes that play.")
@click.option("--attribute", is_flag=True, help="Find out what failures come from, by further episodes.")
@click.option("--name", default="", help="What tables call the policy.")
@click.option("--description", default="", help="What it is, for the board.")
@click.option("--author", "authors", multiple=True, help="Who made it; may be given several times.")
@click.option("--url", default="", help="Where to read of it.")
@click.option("--json", "as_json", is_flag=True, help="The summary as one JSON object.")
def command(
    split: str,
    policy: str,
    args: dict[str, Any],
    out: Path | None,
    attempts: int | None,
    jobs: int,
    attribute: bool,
    name: str,
    description: str,
    authors: tuple[str, ...],
    url: str,
    as_json: bool,
) -> None:
    """Play a policy on every variant of a split, and write a submission: results, trajectories, versions.

    A run that is stopped, by ^C or kill -9, goes on when the same command is given again, and comes to the same
    files. Episodes that the machine failed in have no score, count apart, and are played again by the same command;
    with more than 2 % of them the result is not valid. Exit code 1: not valid, or it could not go on; 2: what was
    asked for does not exist.

    MODULE:OBJECT is a class, a function that returns a policy, or the policy itself.

    docs/how-to/evaluate-a-policy.md says more.
    """
    from rolf.evaluation.errors import EvaluationError, FolderError, NoPolicyError
    from rolf.evaluation.evaluate import evaluate
    from rolf.evaluation.identity import About

    began = time.monotonic()
    found, spec = _found(split, policy, args)
    where = out or Path("submissions") / _file_name(f"{found.name}--{name or spec.name}")
    try:
        about = About(name, description, ", ".join(authors), url)
        with _progress() as report:
            outcome = evaluate(
                found, spec, where, attempts=attempts, jobs=jobs, attribute=attribute, about=about, report=report
            )
    except (ValueError, FolderError, NoPolicyError) as error:
        raise WrongUsage(str(error)) from error
    except EvaluationError as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt as error:
        raise click.ClickException("stopped; the same command goes on from here") from error
    _tell(outcome, where, time.monotonic() - began, as_json=as_json)
    _tell_attempts(outcome, found)
    if not outcome.valid:
        raise SystemExit(1)


def _found(split: str, policy: str, args: dict[str, Any]) -> tuple[Split, Spec]:
    """Return what is meant by the names of a split and a policy."""
    from rolf.evaluation.errors import NoPolicyError
    from rolf.evaluation.loading import find_policy
    from rolf.splitting import find_split

    try:
        found = find_split(split)
        return found, find_policy(policy, dict.fromkeys(variant.env_id for variant in found.variants), args)
    except (LookupError, ValueError, NoPolicyError) as error:
        raise WrongUsage(str(error)) from error


def _file_name(text: str) -> str:
    """Return a text as a name of a folder."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.") or "policy"


@contextmanager
def _progress() -> Iterator[Callable[[Advance], None]]:
    """Show a bar on stderr if a person looks at it, else a line now and then."""
    tally = Tally()
    if not sys.stderr.isatty():
        yield tally.line
        return
    from rolf import progress  # loads rich

    with progress.bar() as bar:
        task = bar.add_task("")

        def report(advance: Advance) -> None:
            tally.add(advance)
            bar.update(task, total=advance.episodes, completed=tally.count, description=str(tally))

        yield report


class Tally:
    """How the episodes went so far."""

    def __init__(self) -> None:
        self.count = self.played = self.successes = self.faults = 0
        self._told = time.monotonic()

    def add(self, progress: Advance) -> None:
        """Count what has just been played."""
        self.played += len(progress.new)
        self.count = progress.kept + self.played
        self.successes += sum(bool(row.success) for row in progress.new)
        self.faults += sum(bool(row.fault) for row in progress.new)

    def line(self, progress: Advance) -> None:
        """Say so on a line of its own, now and then."""
        self.add(progress)
        begin = not progress.new
        if begin and progress.kept:
            click.echo(f"{progress.kept} of {progress.episodes} episodes are there already", err=True)
        if not begin and time.monotonic() - self._told >= PAUSE:
            self._told = time.monotonic()
            click.echo(f"{self.count} of {progress.episodes} episodes: {self}", err=True)

    def __str__(self) -> str:
        counted = self.played - self.faults
        new = " new ones" if self.count > self.played else ""
        said = f"{self.successes} of {counted}{new} succeeded"
        return f"{said}, {self.faults} fault{'s' * (self.faults > 1)}" if self.faults else said


def _tell(outcome: Outcome, folder: Path, seconds: float, *, as_json: bool) -> None:
    """Print what it came to."""
    from rolf.evaluation.malformed import misread

    told, found = outcome.submission, misread(outcome.episodes)
    summary = told["summary"]
    if as_json:
        shown = {name: told[name] for name in ("split", "split_digest", "attempts", "policy", "summary")}
        lost = {"steps": found.steps, "of": found.of, "episodes": found.episodes}
        click.echo(json.dumps(shown | {"malformed": lost, "valid": outcome.valid, "folder": str(folder)}))
    else:
        attempts = f"{told['attempts']} attempt{'s' * (told['attempts'] > 1)}"
        click.echo(f"{told['policy']['name']} on {told['split']}, {attempts} a variant")
        for name in ("success", "score", "episode_return"):
            value = summary[name]
            click.echo(f"  {name.replace('episode_', ''):8} {'unknown' if value is None else f'{value:.4f}'}")
        click.echo(f"  {'faults':8} {summary['faults']} of {summary['episodes']} episodes")
        if found.steps:
            mute = f"{found.episodes} episode{'s' * (found.episodes != 1)} without any valid call"
            click.echo(f"  {'invalid':8} {found.steps} of {found.of} steps (MALFORMED), {mute}")
    kept = f", {outcome.kept} of them from an earlier run" if outcome.kept else ""
    episodes = f"{summary['episodes']} episode{'s' * (summary['episodes'] != 1)}"
    click.echo(f"{episodes} in {folder}{kept}; {seconds:.0f} s", err=True)
    if found.worst is not None and found.most:
        _tell_misread(found, folder / "trajectories" / found.worst.trajectory)
    if summary["faults"]:
        _tell_faults(outcome)


def _tell_misread(found: Misread, worst: Path) -> None:
    """Say that the score is one of the answers' form, and where to look."""
    wrong = f"warning: {found.steps} of {found.of} steps were no valid call"
    click.echo(f"{wrong}, so the score says whether the policy is understood rather than how good it is", err=True)
    click.echo(f"what it answered, and what was wrong with that: zcat {shlex.quote(str(worst))}", err=True)


def _tell_attempts(outcome: Outcome, split: Split) -> None:
    """Say where a board would not take the result, as the policy might do otherwise in attempts that were left out."""
    attempts, wanted = outcome.submission["attempts"], split.attempts
    alone = split.pinned and attempts == 1 and outcome.submission["policy"]["deterministic"]
    if attempts != wanted and not alone:
        wrong = f"not for a board: {attempts} attempt{'s' * (attempts > 1)} a variant, and the split wants {wanted}"
        click.echo(f"{wrong}; for that, leave --attempts out and give another --out", err=True)


def _tell_faults(outcome: Outcome) -> None:
    """Say why the machine failed, and what to do."""
    reasons = Counter(row.fault for row in outcome.episodes if row.fault)
    for reason, count in reasons.most_common(5):
        click.echo(f"the machine failed in {count} of them: {reason:.300}", err=True)
    valid = "" if outcome.valid else "more than 2 % are lost, so the result is not valid; "
    click.echo(f"{valid}the same command plays them again", err=True)
