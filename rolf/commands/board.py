"""``rolf board``: validate, compare, rank and show submissions."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from textwrap import fill, indent
from typing import TYPE_CHECKING, Any, TypeVar

import click

from rolf.commands.evaluate import arguments
from rolf.commands.usage import WrongUsage

if TYPE_CHECKING:
    from rolf.leaderboard.board import Board, Comparison
    from rolf.leaderboard.contest import Contests
    from rolf.leaderboard.validation import Validation

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)
Command = TypeVar("Command", bound=Callable[..., Any])


@click.group("board", short_help="Validate, compare and rank submissions.")
def command() -> None:
    """Work with submissions, which `rolf eval --out` writes, and with folders of them."""


def _own_splits(function: Command) -> Command:
    help_text = "File of a split that no installed environment offers; may be given several times."
    return click.option("--split-file", "files", multiple=True, type=FILE, help=help_text)(function)


def _rerun(default: int) -> Callable[[Command], Command]:
    help_text = "Episodes of each submission, chosen at random, that are played again."
    return click.option("--rerun", type=click.IntRange(min=0), default=default, show_default=True, help=help_text)


@command.command(short_help="Is every number what its trajectory gives?")
@click.argument("paths", nargs=-1, required=True, type=FOLDER, metavar="PATH...")
@_rerun(5)
@click.option("--all", "everything", is_flag=True, help="Play all episodes again.")
@click.option("--seed", type=click.IntRange(min=0), help="Of the choice; without it nobody can know which are chosen.")
@_own_splits
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line instead of text.")
def validate(
    paths: tuple[Path, ...], rerun: int, everything: bool, seed: int | None, files: tuple[Path, ...], as_json: bool
) -> None:
    """Validate submissions: PATH is one, or a folder of them.

    Files, digests, split, limits and attempts are checked, every number is computed anew from its trajectory, and some
    episodes are played again by their recorded actions and compared step by step. Everything that is wrong is told,
    with its place and what to do. Nothing of a submission is executed but these actions, in environments that the split
    names. Exit code 1 when any is refused.
    """
    with _usage():
        found = [folder for path in paths for folder in _visited(path)]
        refused = 0
        for looked, seconds in _looked_at(found, None if everything else rerun, seed, files):
            refused += not looked.valid
            click.echo(json.dumps(_plain(looked, seconds)) if as_json else _told(looked, seconds))
    if refused:
        raise SystemExit(1)


@command.command(short_help="A table for each split.")
@click.argument("folder", type=FOLDER)
@click.option("--split", help="Show this one alone.")
@_rerun(0)
@_own_splits
@click.option("--wide", is_flag=True, help="All columns, however wide the terminal is.")
@click.option("--json", "as_json", is_flag=True, help="All of it as one JSON object.")
@click.option("--markdown", "as_markdown", is_flag=True, help="All of it as tables in Markdown.")
def show(
    folder: Path,
    split: str | None,
    rerun: int,
    files: tuple[Path, ...],
    wide: bool,
    as_json: bool,
    as_markdown: bool,
) -> None:
    """Rank the submissions in FOLDER, each split by itself.

    Every submission is validated first; what is refused is told on stderr and has no place. Exit code 1 when all
    are refused. The table fits 100 columns; more of it is in --wide, and all that is known in --markdown and --json.
    """
    from rolf.leaderboard.markdown import WIDTH, about, columns, markdown, standings, summary

    if as_json and as_markdown:
        raise click.UsageError("--json and --markdown are two forms of the same; give one")
    board, _ = _board(folder, rerun, files, split)
    if as_json:
        click.echo(json.dumps(board.as_json()))
    elif as_markdown:
        click.echo(markdown(board), nl=False)
    else:
        for part in board.splits:
            told = [part.split, fill(about(part), WIDTH), *([part.caution] if part.caution else [])]
            click.echo("\n".join([*told, "", columns(*(standings if wide else summary)(part)), ""]))
    _tell_refused(board)
    if not board.splits:
        raise SystemExit(1)


@command.command(short_help="Two submissions on the same variants.")
@click.argument("first", type=FOLDER)
@click.argument("second", type=FOLDER)
@_rerun(0)
@_own_splits
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of a table.")
def compare(first: Path, second: Path, rerun: int, files: tuple[Path, ...], as_json: bool) -> None:
    """Compare submission FIRST with SECOND, on all variants and family by family."""
    from rolf.leaderboard.board import caution
    from rolf.leaderboard.duel import duel
    from rolf.leaderboard.markdown import columns, pairs

    with _usage():
        one, two = (looked for looked, _ in _looked_at([first, second], rerun, None, files))
        for looked in (one, two):
            if not looked.valid:
                raise WrongUsage(f"{_told(looked, 0.0)}\na submission that is refused cannot be compared")
        found: dict[str, Comparison] = duel(one, two)
    if as_json:
        from dataclasses import asdict

        click.echo(json.dumps({part: asdict(each) for part, each in found.items()}))
        return
    heads, rows = pairs(list(found.values()))
    click.echo(columns(["part", *heads], [[part, *row] for part, row in zip(found, rows, strict=True)]))
    for part, each in found.items():
        if said := caution(each.clusters):
            click.echo(f"{part}: {said}")


@command.command(short_help="Play it again, and write the badge down.")
@click.argument("submission", type=FOLDER)
@click.option("--board", type=FOLDER, required=True, help="Folder whose verified.json gets the badge.")
@click.option("--by", required=True, help="Who vouches for it.")
@click.option("--policy", help="Have this policy, which may be yours to trust, play as well: NAME or MODULE:OBJECT.")
@click.option("--policy-arg", "args", multiple=True, metavar="KEY=VALUE", callback=arguments, help="Argument for it.")
@click.option("--variants", type=click.IntRange(min=1), default=20, show_default=True, help="On which it plays.")
@_own_splits
def verify(
    submission: Path,
    board: Path,
    by: str,
    policy: str | None,
    args: dict[str, Any],
    variants: int,
    files: tuple[Path, ...],
) -> None:
    """Validate SUBMISSION, play all of its episodes again, and only then write the badge "verified".

    With --policy the policy itself plays some variants again, and must do what was recorded. Its code runs with your
    rights: read it first. The badge is bound to every byte of the submission.
    """
    from rolf.evaluation.errors import EvaluationError
    from rolf.leaderboard import verification
    from rolf.leaderboard.performance import performed

    with _usage(EvaluationError):
        [(looked, seconds)] = _looked_at([submission], None, None, files)
        if not looked.valid:
            raise WrongUsage(f"{_told(looked, seconds)}\nno badge")
        evaluated = performed(looked, policy, args, variants) if policy is not None else 0
        badge = verification.give(board, looked.digest, submission.name, by, episodes=looked.again, evaluated=evaluated)
    more = f", {badge.evaluated} by the policy itself" if badge.evaluated else ""
    click.echo(f"verified by {badge.by}: {badge.episodes} episodes played again{more}; {board / verification.FILE}")


@command.command(short_help="Write the board as a page, Markdown or JSON.")
@click.argument("folder", type=FOLDER)
@click.option("--html", type=FILE, help="One static page, to be opened from the disk.")
@click.option("--markdown", "as_markdown", type=FILE, help="Tables.")
@click.option("--json", "as_json", type=FILE, help="All that is known; its schema is shipped.")
@_rerun(0)
@_own_splits
def render(
    folder: Path,
    html: Path | None,
    as_markdown: Path | None,
    as_json: Path | None,
    rerun: int,
    files: tuple[Path, ...],
) -> None:
    """Write the board of FOLDER to files. Exit code 1 when all submissions are refused."""
    from rolf.evaluation.atomic import write
    from rolf.leaderboard.markdown import markdown
    from rolf.leaderboard.page import page

    if html is None and as_markdown is None and as_json is None:
        raise click.UsageError("nothing to write; give --html, --markdown or --json with a file")
    board, around = _board(folder, rerun, files, None)
    makers: list[tuple[Path | None, Callable[[], str]]] = [
        (as_json, lambda: json.dumps(board.as_json()) + "\n"),
        (as_markdown, partial(markdown, board)),
        (html, partial(page, board, around)),
    ]
    for path, make in makers:
        if path is not None:
            with _usage():
                write(path, make().encode())
            click.echo(f"wrote {path}", err=True)
    _tell_refused(board)
    if not board.splits:
        raise SystemExit(1)


@contextmanager
def _usage(*more: type[Exception]) -> Iterator[None]:
    """Tell what a caller has got wrong in a line."""
    wrong: tuple[type[Exception], ...] = (LookupError, ValueError, *more)
    try:
        yield
    except wrong as error:
        raise WrongUsage(str(error.args[0]) if error.args else str(error)) from error
    except OSError as error:
        raise WrongUsage(f"{error.filename!r}: {error.strerror}; give one that can be read and written") from error


def _submissions(path: Path) -> list[Path]:
    from rolf.leaderboard.validation import submissions

    return submissions(path)


def _visited(path: Path) -> list[Path]:
    """Return the submissions there, and say which they are where that is not what was given."""
    found = _submissions(path)
    if found != [path]:
        names = ", ".join(each.relative_to(path).as_posix() for each in found)
        click.echo(f"{len(found)} submission{'s' * (len(found) != 1)} in {path}: {names}", err=True)
    return found


def _contests(files: Sequence[Path]) -> Contests:
    from rolf.leaderboard.contest import Contests
    from rolf.splitting import read_split

    return Contests([read_split(file) for file in files])


def _looked_at(
    folders: Sequence[Path], count: int | None, seed: int | None, files: Sequence[Path]
) -> Iterator[tuple[Validation, float]]:
    """Validate submissions one after the other, and yield each with the time that it took [s]."""
    from rolf.leaderboard.validation import validate

    find = _contests(files)
    for folder in folders:
        began = time.monotonic()
        looked = validate(folder, count=count, seed=seed, find=find)
        yield looked, time.monotonic() - began


def _board(folder: Path, rerun: int, files: Sequence[Path], split: str | None) -> tuple[Board, Path]:
    """Return the board of a folder, or of the one around it where it is a submission itself, and which it is of."""
    from rolf.leaderboard.ranking import ranked
    from rolf.leaderboard.verification import verified

    with _usage():
        found = _submissions(folder.resolve())
        around = found[0].parent
        looked = [each for each, _ in _looked_at(found, rerun, None, files)]
        board = ranked(around, looked, verified(around), only=split)
    if split is not None and not board.splits:
        _tell_refused(board)
        raise WrongUsage(f"no valid submission in {str(folder)!r} is one to the split {split!r}")
    return board, around


def _told(looked: Validation, seconds: float) -> str:
    """Return what came of a validation as lines of text."""
    count = looked.problems.count
    name = looked.folder.name
    if looked.valid:
        head = f"ok       {name}: {len(looked.rows)} episodes, {looked.again} played again; {seconds:.1f} s"
        return "\n".join([head, *(f"{'':9}note: {note}" for note in looked.notes)])
    more = count - len(looked.problems.kept)
    lines = [str(problem) for problem in looked.problems] + ([f"and {more} more"] if more else [])
    head = f"REFUSED  {name}: {count} problem{'s' * (count > 1)}; {seconds:.1f} s"
    return "\n".join([head, *(indent(line, " " * 9) for line in lines)])


def _plain(looked: Validation, seconds: float) -> dict[str, Any]:
    return {
        "folder": str(looked.folder),
        "valid": looked.valid,
        "digest": looked.digest,
        "split": looked.submission.split if looked.submission is not None else None,
        "episodes": len(looked.rows),
        "played_again": looked.again,
        "problems": looked.problems.as_json(),
        "notes": looked.notes,
        "problem_count": looked.problems.count,
        "seconds": round(seconds, 3),
    }


def _tell_refused(board: Board) -> None:
    for refused in board.refused:
        click.echo(f"refused {refused.name}: {refused.problems[0]}", err=True)
    if board.refused:
        click.echo("`rolf board validate` tells all that is wrong", err=True)
