"""Train: the loop round a learner, from top to bottom."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rolf_adapters.ppo import parallel
from rolf_adapters.ppo.config import Config
from rolf_adapters.ppo.learner import Diverged, Halted
from rolf_adapters.ppo.metrics import check
from rolf_adapters.ppo.reading import ConfigError
from rolf_adapters.ppo.run import Run, TrainingError
from rolf_adapters.ppo.stopping import Stop


@dataclass(frozen=True, slots=True)
class News:
    """What people are told while it goes on."""

    done: int
    """Iterations that are done."""
    iterations: int
    """In all."""
    values: Mapping[str, float] = field(default_factory=dict)
    """What the latest measured."""
    message: str = ""
    """What happened besides."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a training came to."""

    iterations: int
    """Done, in all runs."""
    ended: str
    """Why a gate ended it; empty: no gate did."""
    interrupted: bool
    """Whether it was stopped from outside, and can go on."""
    values: Mapping[str, float]
    """What was measured last, in this run."""
    folder: Path


def train(config: Config, out: Path, *, resume: bool = False, report: Callable[[News], None] | None = None) -> Outcome:
    """Train until the iterations are done, a gate ends it, or somebody does.

    Args:
        config: What is trained, and how.
        out: Its folder: ``metrics.jsonl``, ``checkpoints`` and the rest.
        resume: Whether to go on with what lies there. The same bits come out as without the break.
        report: Called at the beginning, after each iteration, and with what people should know.

    Raises:
        ConfigError: the configuration does not fit.
        CheckpointError: what lies there is of another training, or nothing of it is whole.
        TrainingError: it cannot begin, or has gone wrong for good.
        SystemExit: it cannot begin, and another process raises one of these and speaks for all.
    """
    say = report or (lambda _: None)
    total = config.training.iterations
    _check_processes(config)
    cluster = config.cluster
    with (
        parallel.started(cluster.threads, cluster.backend),
        Stop(aloud=parallel.rank() == 0, echo=2.0 if parallel.launched() else 0.0) as stop,
        Run(config, out, resume=resume, tell=lambda said: say(News(0, total, message=said))) as run,
    ):
        say(News(run.iteration, total))
        latest: Mapping[str, float] = {}
        stopping = False
        while not run.over and not stopping:
            try:
                latest = _measured(run)
                run.log(latest)
                verdict = run.judge(latest)
                if verdict is not None and verdict.then == "fail":
                    raise TrainingError(f"iteration {run.iteration}: {verdict.reason}: the training has failed")
                if verdict is not None and verdict.then == "roll back":
                    run.go_back(verdict.reason, "begin anew with other settings, or with another gate")
                    continue
                run.iteration += 1
                run.ended = verdict.reason if verdict is not None else ""
                stopping = any(parallel.gathered(stop.asked))
                if stopping or run.over or run.scheduled:
                    run.save()
            except Diverged as error:
                run.go_back(f"diverged: {error}", "begin anew with a smaller training.learning_rate or clip range")
                continue
            say(News(run.iteration, total, latest))
        return Outcome(run.iteration, run.ended, stopping and not run.over, latest, out)


def _measured(run: Run) -> Mapping[str, float]:
    """Go through one iteration, and an evaluation where it is due, and return what was measured.

    Of several processes all return what the first measured, so that they do the same about it.
    """
    try:
        began, waited = time.monotonic(), parallel.waited()
        values = dict(run.learner.iterate(run.iteration))
        values["time/iteration"] = time.monotonic() - began
        values["time/sync"] = parallel.waited() - waited
        if run.evaluates:
            began = time.monotonic()
            values |= run.learner.evaluate(run.iteration)
            values["time/evaluation"] = time.monotonic() - began
    except Halted as error:
        wrong = f"iteration {run.iteration}: {error}"
        hint = "; --resume goes on from the last checkpoint" if error.resumes else ""
        raise TrainingError(f"{wrong}{hint}") from error
    except Exception as error:  # somebody's environment or model, mostly; where it went wrong they see in the traceback
        error.add_note(f"in iteration {run.iteration} of the training; --resume goes on from its last checkpoint")
        raise
    check(values)
    first: dict[str, float] = parallel.gathered(values)[0]
    return first


def _check_processes(config: Config) -> None:
    """See that as many processes train as the configuration says: what is learned depends on it."""
    there, said = max(parallel.launched(), 1), config.cluster.processes
    if there != said:
        raise ConfigError(
            f"cluster.processes is {said}, and {there} {'were' if there > 1 else 'was'} started; "
            "`rolf train` starts as many as it is, and torchrun is to be told the same number"
        )
