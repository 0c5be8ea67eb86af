"""Difficulty: how often somebody gets through who does not look, measured and not guessed.

``data/difficulty.csv`` holds what `python -m termgym.data.measure_difficulty` found: for each cause how many of its
worlds somebody gets through who guesses (`termgym.weak`), and in how many steps the oracle does.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from termgym.episode import Episode
from termgym.errors import SandboxError
from termgym.event import Event
from termgym.plan import ActionPlan, keys, submit
from termgym.tasks.registry import make_task
from termgym.tasks.task import Task
from termgym.weak import REPAIRS, guess, haphazard

TIMEOUT = 10.0
"""Of one command [s]: what takes longer is no repair."""
_FIGURES = ("guess", "any_guess", "haphazard", "oracle_steps")
EASY = 0.5
"""Share of worlds from which on a cause counts as easy."""


class Measured(NamedTuple):
    """What was found out about one cause."""

    family: str
    cause: str
    worlds: int
    """How many were played: seeds 0, 1, …"""
    guess: float
    """Chance that one repair, drawn at random and tried alone, reaches the goal."""
    any_guess: float
    """Share of worlds in which any one of the repairs does, alone on the untouched world."""
    haphazard: float
    """Share of worlds in which an episode of repairs drawn at random, one after the other, reaches it."""
    oracle_steps: float
    """Mean steps in which the oracle reaches the goal."""

    @property
    def level(self) -> str:
        """How hard it is for somebody who does not look: ``easy``, ``medium`` or ``hard`` (never solved)."""
        best = max(self.any_guess, self.haphazard)
        return "easy" if best >= EASY else "medium" if best > 0 else "hard"


@cache
def measured() -> tuple[Measured, ...]:
    """Return what the file says, a row a cause."""
    text = (files("termgym.data") / "difficulty.csv").read_text()
    return tuple(
        Measured(row["family"], row["cause"], int(row["worlds"]), *(float(row[name]) for name in _FIGURES))
        for row in csv.DictReader(text.splitlines())
    )


def measure(family: str, cause: str, worlds: int, episode: Episode) -> Measured:
    """Play one cause by guessing, and with the oracle.

    Args:
        family: See there.
        cause: See there.
        worlds: How many.
        episode: Where; it looks at the goal after each step, and stays open.

    Raises:
        SandboxError: the machine failed, or the oracle does not reach the goal.
    """
    tasks = [make_task(f"{family}/{cause}", seed) for seed in range(worlds)]
    oracle = [steps(task, iter(task.oracle), episode) for task in tasks]
    solved = [each for each in oracle if each is not None]
    if len(solved) < worlds:
        raise SandboxError(f"the oracle of {family}/{cause} solved {len(solved)} of {worlds} worlds; validate it first")
    hits = [_hits(task, episode) for task in tasks]
    chance = [steps(task, typed(haphazard(task.instruction, task.seed)), episode) is not None for task in tasks]
    return Measured(
        family,
        cause,
        worlds,
        guess=sum(hits) / len(REPAIRS) / worlds,
        any_guess=sum(each > 0 for each in hits) / worlds,
        haphazard=sum(chance) / worlds,
        oracle_steps=sum(solved) / worlds,
    )


def _hits(task: Task, episode: Episode) -> int:
    """Return how many of the repairs reach a task's goal, each alone on the untouched world."""
    guesses = [guess(task.instruction, repair) for repair in REPAIRS.values()]
    return sum(steps(task, typed([command]), episode) is not None for command in guesses)


def steps(task: Task, plans: Iterator[ActionPlan], episode: Episode) -> int | None:
    """Return in how many steps plans reach a task's goal; None if they do not.

    Raises:
        SandboxError: the machine failed.
    """
    episode.start(task)
    action = next(plans).model_dump_json()
    for _ in range(task.max_steps):
        outcome = episode.step(action)
        if outcome.info["failure_kind"] is not None:
            raise SandboxError(outcome.stderr)
        if outcome.ended:
            return outcome.step if outcome.info["success"] else None
        if outcome.event is Event.WAITING_INPUT:
            action = keys("C-c", timeout=TIMEOUT)  # it does not know what was asked
            continue
        following = next(plans, None)
        action = submit() if following is None else following.model_dump_json()
    return None


def typed(commands: Iterable[str]) -> Iterator[ActionPlan]:
    """Yield commands as plans that expect nothing."""
    return (ActionPlan(command=command, timeout=TIMEOUT, expected_exit_code=None) for command in commands)
