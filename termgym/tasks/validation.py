"""Validation: is a task fit to be counted?

A task that cannot be solved, that is solved from the start, or that is another one the second time teaches nothing. So
each is played for real: the symptom must show, doing nothing must not succeed, the oracle must, with what it forecast
and within what the task allows, and on a world built anew it must see and leave exactly the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from rolf.environments import Verdict
from termgym.assignment import sandbox_opener
from termgym.episode import FAULTS, Episode
from termgym.errors import SandboxUnavailable, TaskError
from termgym.options import Options
from termgym.outcome import Outcome
from termgym.plan import ActionPlan
from termgym.tasks.named import named
from termgym.tasks.playthrough import Playthrough, play
from termgym.tasks.task import Task
from termgym.tasks.verified import Findings, examine, examine_folder

SHOWN = 300
"""Longest piece of output that a problem quotes [characters]."""


def validate(task: Task | Path, episode: Episode | None = None) -> Verdict:
    """Return whether a task is fit to be counted, and every reason why not.

    Args:
        task: What to look at, or the folder that holds it.
        episode: Where to play it; its goal is looked at after each step. Stays open. None: one of its own, closed
            in the end.

    Raises:
        SandboxUnavailable: this host cannot play any task. A machine that fails otherwise, be it by a service that
            never becomes ready, is told in the verdict.
    """
    if episode is None:
        with validator() as validate_one:
            return validate_one(task)
    began = time.monotonic()
    found, fault = Findings(), ""
    try:
        if isinstance(task, Path):
            examine_folder(task, episode, found)
        else:
            found.problems.extend(_problems(task, episode, found))
    except SandboxUnavailable:
        raise
    except FAULTS as error:
        fault = str(error)
    name = task.id if isinstance(task, Task) else str(task)
    return Verdict(name, tuple(found.problems), time.monotonic() - began, fault, tuple(found.notes))


def validate_all(names: Sequence[str] = (), seeds: int = 1) -> Iterator[Verdict]:
    """Validate ``seeds`` worlds of each task named, one verdict at a time; names and seeds as `named` takes them.

    Raises:
        UnknownTask: no task has one of the names.
    """
    tasks = named(names, seeds)
    with validator() as validate_one:
        for task in tasks:
            yield validate_one(task)


@contextmanager
def validator(*, build_network: bool = False) -> Iterator[Callable[[Task | Path], Verdict]]:
    """Open one machine to validate one task after the other on, and close it in the end.

    Args:
        build_network: Whether images may be built with the network.
    """
    options = Options.of({"build_network": build_network})
    with closing(Episode(sandbox_opener(options), options)) as episode:
        yield partial(validate, episode=episode)


def _problems(task: Task, episode: Episode, found: Findings) -> Iterator[str]:
    try:
        if task.verifier is not None or task.stages:
            examine(task, episode, found)
            return
        yield from _symptom(task, episode)
        yield from _nothing(task, episode)
        yield from _oracle(task, episode)
    except TaskError as error:
        yield f"the task cannot be built: {error}"


def _symptom(task: Task, episode: Episode) -> Iterator[str]:
    for plan in task.symptom:
        yield from _surprises("the symptom", (plan,), play(task, episode, (plan,)))


def _nothing(task: Task, episode: Episode) -> Iterator[str]:
    if not task.goal:
        yield "the task has no goal; give it at least one check"
    elif play(task, episode, (), submit=True).last.info["success"]:
        yield "doing nothing succeeds; the goal must fail in the initial state"


def _oracle(task: Task, episode: Episode) -> Iterator[str]:
    if not task.oracle:
        yield "the task has no oracle; nothing shows that its goal can be reached"
        return
    first = play(task, episode, task.oracle, submit=True)
    yield from _surprises("the oracle", task.oracle, first)
    if task.goal and not first.last.info["success"]:
        failed = [f"{check['check']}: {check['detail']}" for check in _checks(first.last, "goal")]
        yield f"the oracle does not reach the goal; failed: {'; '.join(failed)}"
    for path in first.last.info.get("drift", ()):
        yield f"the oracle changes {path}, which the task does not allow"
    # A comment makes it another recipe, so the world is built again instead of being found ready.
    again = play(replace(task, setup=f"{task.setup}\n# built again\n"), episode, task.oracle, submit=True)
    yield from _differences(first, again)


def _checks(outcome: Outcome, of: str) -> Iterator[dict[str, str]]:
    """Return the checks of a plan or a goal that did not pass."""
    return (check for check in outcome.info["checks"] if check["of"] == of and not check["passed"])


def _surprises(who: str, plans: Sequence[ActionPlan], played: Playthrough) -> Iterator[str]:
    """Return where what happened is not what the plans foretold."""
    for number, (plan, outcome) in enumerate(zip(plans, played.outcomes, strict=False), start=1):
        if plan.expected_exit_code not in (None, outcome.exit_code):
            said = f"{outcome.stdout}{outcome.stderr}"[-SHOWN:]
            yield (
                f"{who}, step {number}: {plan.command!r} ended with {outcome.exit_code} ({outcome.event.name}), "
                f"foretold was {plan.expected_exit_code}; it said {said!r}"
            )
        for check in _checks(outcome, "plan"):
            said = f"{outcome.stdout}{outcome.stderr}"[-SHOWN:]
            yield f"{who}, step {number}: {check['check']} does not hold ({check['detail']}); the step said {said!r}"


def _differences(first: Playthrough, again: Playthrough) -> Iterator[str]:
    """Return in what a second run of the same plans on a world built anew differs from the first."""
    if first.before != again.before:
        yield f"the world is another when it is built again: digests {first.before} and {again.before}"
    if len(first.outcomes) != len(again.outcomes):
        yield f"the oracle takes {len(first.outcomes)} steps, and {len(again.outcomes)} the second time"
    for one, other in zip(first.outcomes, again.outcomes, strict=False):
        for name in ("stdout", "stderr", "cwd", "exit_code", "event", "reward"):
            seen, seen_again = getattr(one, name), getattr(other, name)
            if seen != seen_again:
                yield (
                    f"the oracle's step {one.step} has another {name} the second time: "
                    f"{str(seen)[-SHOWN:]!r} and {str(seen_again)[-SHOWN:]!r}"
                )
    digests = [played.last.info.get("state_digest") for played in (first, again)]
    if digests[0] != digests[1]:
        yield f"the oracle leaves another state the second time: digests {digests[0]} and {digests[1]}"
