"""Verified: is a task with a verifier of its own fit to be counted, and what should its author know?

What `validation` asks of a goal is asked of the verifier here: nothing done is no success, the solution is, and a
second time it is rewarded alike and leaves the same state.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from termgym.episode import Episode
from termgym.errors import TaskError
from termgym.folders import read_folder
from termgym.lint import Severity, lint_folder
from termgym.outcome import Outcome
from termgym.tasks.playthrough import NO_VERDICT, Playthrough, play_nothing, play_solution
from termgym.tasks.task import Task
from termgym.tasks.verifier import SOLUTION

SHOWN = 1_000
"""Longest piece of output that a problem quotes [characters]."""
PATHS = 5
"""Most paths that a problem names."""


@dataclass(slots=True)
class Findings:
    """What there is to say of one task."""

    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def examine_folder(path: Path, episode: Episode, found: Findings) -> None:
    """Look at a task folder's files, and play the task that it holds if it can be read.

    Raises:
        SandboxError, SnapshotError: the machine failed.
    """
    for each in lint_folder(path):
        (found.problems if each.severity is Severity.ERROR else found.notes).append(str(each))
    try:
        folder = read_folder(path)
    except TaskError:  # the rule `unreadable` has said it
        return
    found.notes.extend(folder.notes)
    try:
        examine(folder.task, episode, found)
    except TaskError as error:
        found.problems.append(f"the task cannot be built: {error}")


def examine(task: Task, episode: Episode, found: Findings) -> None:
    """Play a task with a verifier; raises what `play` raises."""
    idle = play_nothing(task, episode)
    found.problems.extend(_without_verdict("nothing was done", idle))
    if idle.last.info["success"]:
        found.problems.append("doing nothing succeeds; the verifier must fail in the initial state")
    elif reward := _reward(idle.last):
        found.notes.append(f"doing nothing is rewarded with {reward:g}")
    stages = task.stages or (task,)
    if not task.oracle and any(stage.solution is None for stage in stages):
        found.problems.append("the task has no solution; nothing shows that it can be solved")
        return
    first = play_solution(task, episode)
    found.problems.extend(_unsolved(first))
    if first.last.info["success"]:
        again = play_solution(task, episode)
        found.problems.extend(_differences(first, again))


def _reward(outcome: Outcome) -> float:
    """Return what the verdicts of an episode come to, as the task's own reward."""
    verifier, stage = outcome.info.get("verifier", {}), outcome.info.get("stage")
    if stage is not None:
        return float(sum(stage["rewards"]) / stage["of"])
    return float(verifier.get("reward") or 0.0)


def _without_verdict(after: str, played: Playthrough) -> Iterator[str]:
    """Yield why there was no verdict, if there was none."""
    if played.last.info["failure_kind"] == NO_VERDICT:
        yield f"after {after} there is no verdict: {played.last.stderr}{_quoted(played.last)}"


def _unsolved(played: Playthrough) -> Iterator[str]:
    """Yield why the solution did not succeed, if it did not."""
    yield from _without_verdict("the solution", played)
    if played.last.info["success"] or played.last.info["failure_kind"] is not None:
        return
    stage = played.last.info.get("stage")
    where = f"stage {stage['name']!r} ({stage['number']} of {stage['of']}): " if stage is not None else ""
    yield f"{where}the solution does not succeed; its reward is {_reward(played.last):g}{_quoted(played.last)}"
    for outcome in played.outcomes:
        if outcome.exit_code:
            said = f"{outcome.stdout}{outcome.stderr}"[-SHOWN:]
            yield f"the solution ends with exit status {outcome.exit_code}; its output ends in {said!r}"


def _quoted(outcome: Outcome) -> str:
    """Return the end of what the verifier said, as a part of a sentence."""
    said = str(outcome.info.get("verifier", {}).get("output", "")).strip()
    return f"; the verifier's output ends in {said[-SHOWN:]!r}" if said else ""


def _differences(first: Playthrough, again: Playthrough) -> Iterator[str]:
    """Yield in what a second run of the solution differs from the first."""
    if first.before != again.before:
        yield f"the initial state is another the second time: digests {first.before} and {again.before}"
    rewards = [played.last.info.get("verifier", {}).get("rewards") for played in (first, again)]
    if rewards[0] != rewards[1] or not again.last.info["success"]:
        yield f"the solution is rewarded otherwise the second time: {rewards[0]} and {rewards[1]}"
    digests = [played.last.info["state_digest"] for played in (first, again)]
    if digests[0] != digests[1]:
        changed = [set(played.last.info["diff"]) for played in (first, again)]
        differing = changed[0] ^ changed[1]
        # Of new files the content is not told: then one of them it is.
        paths = sorted({change.path for change in differing or changed[0] if not change.path.startswith(SOLUTION)})
        where = "they differ in" if differing else "it changes"
        more = f" and {len(paths) - PATHS} more" if len(paths) > PATHS else ""
        yield (
            f"the solution leaves another state the second time: digests {digests[0]} and {digests[1]}; "
            f"{where} {', '.join(paths[:PATHS])}{more}"
        )
