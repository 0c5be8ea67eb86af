"""``rolf tasks lint``: what is wrong with task folders, told from their files alone."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from rolf.commands.usage import WrongUsage


@click.command(short_help="Look for mistakes in task folders, without playing them.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--strict", is_flag=True, help="Warnings count as errors.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line instead of text.")
def lint(paths: tuple[str, ...], strict: bool, as_json: bool) -> None:
    """Look for mistakes in the files of task folders; nothing is built or run.

    PATH is a task folder, or a folder of them. What the rules are: docs/reference/lint-rules.md. Exit code 1 when
    there is an error.
    """
    from rolf.environments import Linter, environments

    linters = [environment for environment in environments().values() if isinstance(environment, Linter)]
    if not linters:
        raise click.ClickException("no installed environment has tasks that are files")
    counts = {"error": 0, "warning": 0, "note": 0}
    try:
        for remark in (remark for path in paths for linter in linters for remark in linter.lint(path)):
            counts[remark.severity] += 1
            line = f"{remark.place}: {remark.severity}: {remark.message} [{remark.rule}]; {remark.advice}"
            click.echo(json.dumps(asdict(remark)) if as_json else line)
    except ValueError as error:
        raise WrongUsage(str(error)) from error
    click.echo(", ".join(f"{count} {kind}{'s' * (count != 1)}" for kind, count in counts.items()), err=True)
    if counts["error"] or (strict and counts["warning"]):
        raise SystemExit(1)
