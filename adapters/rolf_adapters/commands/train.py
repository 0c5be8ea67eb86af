"""``rolf train``: train an agent."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from rolf.commands.usage import WrongUsage

if TYPE_CHECKING:
    from rolf_adapters.ppo.config import Config
    from rolf_adapters.ppo.train import News, Outcome

SHOWN = ("rollout/return", "rollout/success", "policy/entropy", "policy/kl", "evaluation/return", "evaluation/success")
"""What a line of progress tells, as far as it is measured."""


@click.command("train", short_help="Train an agent by PPO.")
@click.argument("file", metavar="CONFIG.yaml", required=False, type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), help="Folder of the training. [runs/NAME of the file]"
)
@click.option("--resume", is_flag=True, help="Go on with the training that lies there; begin it if there is none.")
@click.option("--set", "overrides", multiple=True, metavar="GROUP.KEY=VALUE", help="In place of what the file says.")
@click.option("--schema", metavar="KIND", help="Print the JSON Schema of CONFIG.yaml for vector or language, and exit.")
@click.option(
    "--export",
    "model",
    metavar="FILE.onnx",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the network of the training in --out as an ONNX model, checked against it, and exit.",
)
@click.option("--json", "as_json", is_flag=True, help="What it came to as one JSON object.")
def command(
    file: Path | None,
    out: Path | None,
    resume: bool,
    overrides: tuple[str, ...],
    schema: str | None,
    model: Path | None,
    as_json: bool,
) -> None:
    """Train an agent as a YAML file says: a network on many environments at once, or a language model.

    ^C ends it after the iteration that is under way, with a checkpoint. However it was stopped, --resume goes on, and
    comes to the same bits as if it had not been stopped. With cluster.processes above 1 it starts that many.

    Exit code 1: the training has gone wrong; 2: what was asked for does not exist; 130: stopped by ^C or SIGTERM.

    docs/how-to/train-an-agent.md says more.
    """
    if "" not in sys.path:  # an installed command does not look in the working directory, where a model or
        sys.path.insert(0, "")  # an environment that the file names often lies
    try:
        from rolf_adapters.ppo import config as configs
    except ImportError as error:
        raise click.ClickException(str(error)) from error
    from rolf_adapters.ppo.reading import ConfigError

    try:
        if schema is not None:
            click.echo(json.dumps(configs.schema(schema), indent=1))
            return
        if model is not None:
            if out is None or file is not None or resume or overrides:
                raise WrongUsage(
                    "--export takes the network from --out and nothing else; give --out, and no CONFIG.yaml"
                )
            _export(out, model, as_json=as_json)
            return
        if file is None:
            raise WrongUsage("no CONFIG.yaml is given; examples/ of the repository has some, --schema tells all keys")
        config = configs.read(file, overrides)
        where = out or Path("runs") / config.experiment.name
        if config.cluster.processes > 1 and "TORCHELASTIC_RUN_ID" not in os.environ:
            options = [f"--set={each}" for each in overrides] + ["--resume"] * resume + ["--json"] * as_json
            raise SystemExit(_in_several(config, where, [str(file), f"--out={where}", *options]))
        _train(config, where, resume=resume, as_json=as_json)
    except (ConfigError, ImportError) as error:
        raise WrongUsage(str(error)) from error


def _export(run: Path, model: Path, *, as_json: bool) -> None:
    """Write a network as an ONNX model, and print how well it agrees with it and how long an answer takes."""
    from rolf_adapters.ppo.checkpoint import CheckpointError
    from rolf_adapters.ppo.vector.exporting import NoParity, exported

    try:
        checked = exported(run, model)
    except ValueError as error:
        raise WrongUsage(str(error)) from error
    except (NoParity, CheckpointError) as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"{error}; give --export a file that can be written") from error
    if as_json:
        told = {"apart": checked.apart, "same": checked.same, "seconds": checked.seconds}
        click.echo(json.dumps(told | {"model": str(model), "about": str(model.with_suffix(".json"))}))
        return
    click.echo(f"{'largest difference':28} {checked.apart:.2g}")
    click.echo(f"{'same choice':28} {checked.same:.6g}")
    for name, seconds in checked.seconds.items():
        click.echo(f"{f'an answer, {name} [ms]':28} {1000 * seconds:.3g}")
    click.echo(f"{model} and {model.with_suffix('.json')}", err=True)


def _in_several(config: Config, where: Path, arguments: list[str]) -> int:
    """Have this very command run in as many processes as shall learn together; return the exit code."""
    from rolf_adapters.ppo.launching import launch

    cluster = config.cluster
    return launch(
        "rolf_adapters.commands.train", arguments, processes=cluster.processes, threads=cluster.threads, folder=where
    )


def _train(config: Config, where: Path, *, resume: bool, as_json: bool) -> None:
    from rolf_adapters.ppo.checkpoint import CheckpointError
    from rolf_adapters.ppo.learner import Diverged
    from rolf_adapters.ppo.run import TrainingError
    from rolf_adapters.ppo.train import train

    first = int(os.environ.get("RANK", "0")) == 0
    try:
        with _progress(config.logging.every) as report:
            outcome = train(config, where, resume=resume, report=report)
    except (TrainingError, CheckpointError, Diverged) as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt as error:
        if first:
            click.echo("stopped at once; --resume goes on from the last checkpoint", err=True)
        raise SystemExit(130) from error
    if first:
        _tell(outcome, config.training.iterations, as_json=as_json)
    if outcome.interrupted and "TORCHELASTIC_RUN_ID" not in os.environ:  # torchrun takes all but 0 for a failure
        raise SystemExit(130)


@contextmanager
def _progress(every: int) -> Iterator[Callable[[News], None]]:
    """Show a bar on stderr if a person looks at it, else lines; nothing in any process but the first."""
    if int(os.environ.get("RANK", "0")) > 0:
        yield lambda _: None
        return
    if not sys.stderr.isatty():
        yield _Lines(every).tell
        return
    from rolf import progress  # loads rich

    with progress.bar() as bar:
        task = bar.add_task("")

        def report(news: News) -> None:
            if news.message:
                bar.console.print(news.message, markup=False, highlight=False)
            else:
                bar.update(task, total=news.iterations, completed=news.done, description=_shown(news))

        yield report


class _Lines:
    """Progress as lines on stderr.

    Args:
        every: Iterations between two of them.
    """

    def __init__(self, every: int) -> None:
        self._every = every
        self._began = time.monotonic()

    def tell(self, news: News) -> None:
        """Say what there is to say."""
        if news.message:
            click.echo(news.message, err=True)
        elif not news.values and news.done:
            click.echo(f"goes on after {news.done} of {news.iterations} iterations", err=True)
        elif news.values and (news.done % self._every == 0 or news.done == news.iterations):
            seconds = time.monotonic() - self._began
            click.echo(f"{news.done} of {news.iterations} iterations, {seconds:.0f} s: {_shown(news)}", err=True)


def _shown(news: News) -> str:
    """Return what matters most of what was measured."""
    found = ((name, news.values[name]) for name in SHOWN if name in news.values)
    return ", ".join(f"{name} {value:.4g}" for name, value in found if value == value)


def _tell(outcome: Outcome, total: int, *, as_json: bool) -> None:
    """Print what it came to."""
    measured = {name: value for name, value in sorted(outcome.values.items()) if not name.startswith("time/")}
    if as_json:
        plain = {name: value if math.isfinite(value) else None for name, value in measured.items()}
        told = {"iterations": outcome.iterations, "ended": outcome.ended, "interrupted": outcome.interrupted}
        click.echo(json.dumps(told | {"values": plain, "folder": str(outcome.folder)}))
    else:
        for name, value in measured.items():
            click.echo(f"{name:28} {value:.6g}")
    why = f" ({outcome.ended})" if outcome.ended else ""
    click.echo(f"{outcome.iterations} of {total} iterations{why}, in {outcome.folder}", err=True)
    if outcome.interrupted:
        click.echo("stopped; --resume goes on from here", err=True)


def _main() -> NoReturn:
    """Run the command as one of the processes that torchrun has started."""
    from rolf_adapters.ppo import parallel

    try:
        command(prog_name="rolf train")
    except SystemExit as end:
        parallel.leave(end.code if isinstance(end.code, int) else int(end.code is not None))
    parallel.leave()


if __name__ == "__main__":
    _main()
