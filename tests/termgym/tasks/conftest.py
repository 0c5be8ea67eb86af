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


@pytest.fixture
def attempt(episode: Episode) -> Attempt:
    """``attempt(task, command, ...)``: type commands in a fresh episode, submit, return whether that succeeds."""

    def run(task: Task, *commands: str) -> bool:
        episode.start(task)
        for command in commands:
            outcome = episode.step(plan(command, timeout=30, expected_exit_code=None))
            if outcome.ended:
                return bool(outcome.info["success"])
        return bool(episode.step(submit()).info["success"])

    return run
