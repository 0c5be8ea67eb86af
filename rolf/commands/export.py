"""``rolf tasks export`` and ``rolf tasks import``: tasks as files that other harnesses read, and theirs as ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rolf.commands.usage import WrongUsage

if TYPE_CHECKING:
    from rolf.environments import Portable


@click.command(short_help="Write a task as a folder that other harnesses read.")
@click.argument("name")
@click.argument("directory", type=click.Path())
def export(name: str, directory: str) -> None:
    """Write a task as a Harbor folder: image, instruction, tests and solution.

    NAME is TASK, TASK/CAUSE or TASK/CAUSE@SEED, or the path of a task folder, which is written anew. DIRECTORY must not
    be there yet, or be empty. The folder reads back as the same task: `rolf tasks validate DIRECTORY`.
    """
    try:
        _owner(name).export(name, directory)
    except (LookupError, ValueError) as error:
        raise WrongUsage(str(error)) from error
    click.echo(directory)


@click.command("import", short_help="Make task folders of another project's files.")
@click.argument("collection")
@click.argument("source", type=click.Path(exists=True, file_okay=False))
@click.argument("directory", type=click.Path(file_okay=False))
def bring(collection: str, source: str, directory: str) -> None:
    """Make task folders of another project's files, and print where each was written.

    COLLECTION is `intercode` (24 bash queries) or `debug-gym` (10 bugs); SOURCE holds their unpacked package. What is
    amended, and why, stands in each folder's task.toml.
    """
    owners = {each: environment for environment in _portable() for each in environment.COLLECTIONS}
    if collection not in owners:
        raise WrongUsage(f"no collection {collection!r}; there are {', '.join(sorted(owners))}")
    try:
        for folder in owners[collection].bring(collection, source, directory):
            click.echo(folder)
    except ValueError as error:
        raise WrongUsage(str(error)) from error


def _portable() -> list[Portable]:
    from rolf.environments import Portable, environments

    return [environment for environment in environments().values() if isinstance(environment, Portable)]


def _owner(name: str) -> Portable:
    """Return the environment that a name belongs to.

    Raises:
        LookupError: it belongs to none whose tasks can be written as files.
    """
    from rolf.environments import Portable, environments

    for environment in environments().values():
        if environment.recognises(name) and isinstance(environment, Portable):
            return environment
    raise LookupError(f"{name!r} is no task that can be written as a folder; `rolf list` shows what there is")
