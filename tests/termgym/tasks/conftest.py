"""Play tasks for real: one machine for all tests of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from termgym.assignment import sandbox_opener
from termgym.episode import Episode
from termgym.options import Options
from termgym.plan import plan, submit
from termgym.tasks import Task

Attempt = Callable[..., bool]


@pytest.fixture(scope="module")
def episode() -> Iterator[Episode]:
    options = Options.of({})
    opened = Episode(sandbox_opener(options), options)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def attempt() -> Iterator[Attempt]:
    """``attempt(task, command, ...)``: type commands in a fresh episode, submit, return whether that succeeds.

    The goal is looked at in the end alone, so that what comes after a moment of success can spoil it.
    """
    options = Options.of({"check_goal": "submit"})
    opened = Episode(sandbox_opener(options), options)

    def run(task: Task, *commands: str) -> bool:
        opened.start(task)
        for command in commands:
            outcome = opened.step(plan(command, timeout=30, expected_exit_code=None))
            assert not outcome.ended
        return bool(opened.step(submit()).info["success"])

    yield run
    opened.close()
