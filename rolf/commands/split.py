"""``rolf split``: what policies are compared on, and private splits by commitment."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rolf.commands.usage import WrongUsage

if TYPE_CHECKING:
    from rolf.sealing import Commitment

FILE = click.Path(dir_okay=False, path_type=Path)
BASE = click.option("--base", metavar="NAME|FILE", help="Split that it is drawn from. [as the commitment says]")
SECRET = click.option("--secret", type=FILE, required=True, help="File of 32 random bytes or more; for your eyes only.")


@click.group("split", short_help="List splits; seal and draw private ones.")
def command() -> None:
    """Look at what policies are compared on, and organise private splits."""


@contextmanager
def _usage() -> Iterator[None]:
    try:
        yield
    except (LookupError, ValueError) as error:
        raise WrongUsage(str(error)) from error


@command.command("list", short_help="Name the splits that there are.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line instead of a table.")
def listing(as_json: bool) -> None:
    """Name the splits of the installed environments, with variants, attempts and digest.

    The digest is of all that is played and under which limits: results with equal digests can be compared.
    """
    from rolf.evaluation.origin import origins

    entries = [(env_id, module, entry) for env_id, module in origins().items() for entry in module.splits()]
    width = max((len(entry.name) for *_, entry in entries), default=0)
    for env_id, module, entry in entries:
        digest = module.split(entry.name).digest
        if as_json:
            told = {"name": entry.name, "variants": entry.count, "attempts": entry.attempts, "digest": digest}
            click.echo(json.dumps({**told, "environment": env_id, "summary": entry.summary}))
        else:
            counts = f"{entry.count:6,} variants × {entry.attempts}"
            click.echo(f"{entry.name:{width}}  {counts}  {digest[:12]}  {entry.summary}")


@command.command(short_help="Print the variants of a split.")
@click.argument("name")
@click.option("--file", "as_file", is_flag=True, help="As a split file, to make one of your own of it.")
def show(name: str, as_file: bool) -> None:
    """Print the variants of a split, a JSON object a line, with their digests and labels.

    NAME is as for `rolf eval --split`: a name, or a file, with [:N] for its first N variants.
    """
    from rolf.splitting import as_json, find_split, labels_as_json

    with _usage():
        split = find_split(name)
    if as_file:
        click.echo(json.dumps(as_json(split), indent=1))
        return
    for index, (variant, labels) in enumerate(zip(split.variants, split.labels, strict=True)):
        row = {"index": index, **variant.as_json(), "digest": variant.digest, "labels": labels_as_json(labels)}
        click.echo(json.dumps(row))


@command.command(short_help="Commit to a private split before anybody plays.")
@click.argument("name")
@click.option("--base", required=True, metavar="NAME|FILE", help="Split whose problems it has.")
@click.option("--count", type=click.IntRange(min=1), help="Variants. [as many as the base has]")
@click.option("--attempts", type=click.IntRange(min=1), help="At each. [as many as the base wants]")
@SECRET
@click.option("--out", type=FILE, required=True, help="File of the commitment, to be published.")
def seal(name: str, base: str, count: int | None, attempts: int | None, secret: Path, out: Path) -> None:
    """Commit to a private split called NAME: the problems of a public one, with random numbers that a secret decides.

    Publish the commitment, keep the secret. If the file of the secret is not there it is made.
    """
    from rolf import sealing
    from rolf.splitting import find_split, is_installed

    with _usage():
        if is_installed(name):
            raise ValueError(f"{name!r} is the name of a public split; give another")
        found = find_split(base)
        kept = sealing.make_secret(secret)
        sealed = sealing.seal(name, found, count or len(found), attempts or found.attempts, kept)
        sealing.draw(sealed, kept, found)  # whether it can be drawn
        _write_new(out, sealed.as_json(), mode=0o644)
    click.echo(sealed.commitment)
    if sealed.count > len(found):
        repeated = f"{sealed.count} variants of the {len(found)} problems of {found.name}"
        click.echo(f"{repeated}: problems come several times, with other random numbers", err=True)
    click.echo(f"publish {out}; keep {secret} to yourself, and a copy of it: nothing brings it back", err=True)


@command.command(short_help="Draw a private split from its secret.")
@click.argument("commitment", type=FILE)
@SECRET
@BASE
@click.option("--out", type=FILE, required=True, help="File of the split, as secret as the secret.")
def draw(commitment: Path, secret: Path, base: str | None, out: Path) -> None:
    """Draw the split that COMMITMENT announces, for `rolf eval --split FILE.json` on a machine of the organiser's."""
    from rolf import sealing
    from rolf.splitting import as_json, find_split

    with _usage():
        sealed = _commitment(commitment)
        drawn = sealing.draw(sealed, sealing.read_secret(secret), find_split(base or sealed.base))
        _write_new(out, as_json(drawn), mode=0o600)
    click.echo(drawn.digest)


@command.command(short_help="Publish the secret of a split that retires.")
@click.argument("commitment", type=FILE)
@SECRET
@BASE
@click.option("--out", type=FILE, required=True, help="File of the secret, for everybody.")
def reveal(commitment: Path, secret: Path, base: str | None, out: Path) -> None:
    """Publish the secret behind COMMITMENT, so that everybody can draw the split and check it."""
    from rolf import sealing
    from rolf.splitting import find_split

    with _usage():
        sealed, kept = _commitment(commitment), sealing.read_secret(secret)
        sealing.draw(sealed, kept, find_split(base or sealed.base))  # whether it is the one
        _write_new(out, sealing.reveal(sealed, kept), mode=0o644)
    told = f"{out} holds the secret in the clear: once you publish it, {sealed.name} is no private split any more"
    click.echo(f"{told}, and nothing takes it back; until then nobody has seen it, and you may remove it", err=True)


@command.command(short_help="See whether a split is what was committed to.")
@click.argument("commitment", type=FILE)
@click.argument("secret", type=FILE)
@click.argument("file", type=FILE)
@BASE
def check(commitment: Path, secret: Path, file: Path, base: str | None) -> None:
    """See whether the split in FILE is the one that COMMITMENT announced, with the SECRET that was revealed.

    Exit code 0: it is; 1: it is not; 2: it cannot be told.
    """
    from rolf import sealing
    from rolf.splitting import find_split, read_split

    with _usage():
        sealed = _commitment(commitment)
        drawn = sealing.draw(sealed, sealing.read_secret(secret, revealed=True), find_split(base or sealed.base))
        differing = sealing.differences(read_split(file), drawn)
    for line in differing[:20]:
        click.echo(f"{file}: {line}")
    if differing:
        raise SystemExit(1)
    click.echo(f"{file} is what was committed to: {drawn.digest}")


def _commitment(path: Path) -> Commitment:
    from rolf.sealing import Commitment
    from rolf.splitting import read_json

    plain = read_json(path, "commitment")
    try:
        return Commitment.from_json(plain)
    except ValueError as error:
        raise ValueError(f"commitment {str(path)!r}: {error}") from error


def _write_new(path: Path, plain: dict[str, Any], *, mode: int) -> None:
    """Write a file that is not there yet."""
    import os

    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except FileExistsError as error:
        wrong = f"--out {str(path)!r} is there already and is never written over"
        raise ValueError(f"{wrong}; give another file") from error
    except OSError as error:
        raise ValueError(f"--out {str(path)!r}: {error.strerror}; give a file that can be made") from error
    with os.fdopen(handle, "w") as file:
        file.write(json.dumps(plain, indent=1) + "\n")
