"""``rolf check``: does an environment keep what its users rely on?"""

from __future__ import annotations

import importlib
import json
import sys
from typing import TYPE_CHECKING, Any

import click

from rolf.commands.usage import WrongUsage

if TYPE_CHECKING:
    from rolf.checks import Report, Result


@click.command("check", short_help="Check any Gymnasium environment.")
@click.argument("env_id")
@click.option("--kwargs", default="{}", metavar="JSON", help="Arguments of the environment.")
@click.option("--only", multiple=True, metavar="NAME", help="Run this check; may be given again.")
@click.option("--skip", multiple=True, metavar="NAME", help="Leave out this check; may be given again.")
@click.option("--steps", type=click.IntRange(min=1), help="Most steps of an episode.")
@click.option("--seed", "seeds", multiple=True, type=click.IntRange(min=0), help="May be given again.  [default: 0, 1]")
@click.option("--actions", metavar="MODULE:NAME", help="How to act: see `rolf.checks`.")
@click.option("--vector-kwargs", metavar="JSON", help="Arguments of the vector environment, where they are others.")
@click.option("--processes", type=click.IntRange(min=0), help="Fresh processes for the check of determinism.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a check.")
def command(
    env_id: str,
    kwargs: str,
    only: tuple[str, ...],
    skip: tuple[str, ...],
    steps: int | None,
    seeds: tuple[int, ...],
    actions: str | None,
    vector_kwargs: str | None,
    processes: int | None,
    as_json: bool,
) -> None:
    """Run the checks that apply to an environment, and say why the others do not.

    ENV_ID is a Gymnasium id, with the module that registers it: termgym:TermEnv-v1, CartPole-v1. What each check asks:
    docs/how-to/test-your-environment.md. Exit code 1 when one failed; what it prints shows the fault again.
    """

    def tell(result: Result) -> None:
        click.echo(json.dumps(result.as_json()) if as_json else str(result))

    if "" not in sys.path:  # an installed command does not look in the working directory, where a module often lies
        sys.path.insert(0, "")
    settings = {
        "seeds": seeds or None,
        "steps": steps,
        "processes": processes,
        "vector_kwargs": None if vector_kwargs is None else _mapping("--vector-kwargs", vector_kwargs),
        "actions": None if actions is None else _named(actions),
    }
    given = {name: value for name, value in settings.items() if value is not None}
    wanted: dict[str, Any] = {"only": list(only) or None, "skip": skip, "tell": tell}
    report = _checked(env_id, _mapping("--kwargs", kwargs), {**wanted, **given})
    click.echo(str(report).rpartition("\n")[2], err=as_json)
    if not report.passed:
        raise SystemExit(1)


def _checked(env_id: str, kwargs: dict[str, Any], settings: dict[str, Any]) -> Report:
    import gymnasium

    from rolf.checks import check_all

    try:
        return check_all((env_id, kwargs), **settings)
    except (gymnasium.error.Error, LookupError, ModuleNotFoundError, TypeError, ValueError) as error:
        raise WrongUsage(str(error)) from error


def _mapping(option: str, text: str) -> dict[str, Any]:
    """Return a JSON object."""
    try:
        read = json.loads(text)
    except ValueError as error:
        raise WrongUsage(f"{option} {text!r} is no JSON: {error}") from error
    if not isinstance(read, dict):
        raise WrongUsage(f'{option} {text!r} is no JSON object; give e.g. \'{{"task": "git-dirty-pull"}}\'')
    return read


def _named(text: str) -> Any:
    """Return what a module calls by a name."""
    module, _, name = text.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise WrongUsage(f"--actions {text!r}: {error}; give MODULE:NAME of a function or a list") from error
