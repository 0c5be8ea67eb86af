"""Difficulty is measured: the figures are of the families as they are, and the weak policies as weak as they say."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from termgym.assignment import sandbox_opener
from termgym.checks import FileExists, FileMode
from termgym.data import measure_difficulty
from termgym.difficulty import Measured, measure, measured, steps, typed
from termgym.episode import Episode
from termgym.options import Options
from termgym.tasks import HOME, FileSpec, Task, causes, families
from termgym.weak import REPAIRS, guess, haphazard

SHUT = Task(
    "shut",
    "I cannot enter ~/work/heron/data any more. Please repair that.",
    goal=(FileMode(path=f"{HOME}/work/heron/data", mode="755"),),
    files=(FileSpec(f"{HOME}/work/heron/data", kind="dir", mode=0o655),),
)


@pytest.fixture(scope="module")
def episode() -> Iterator[Episode]:
    options = Options.of({})
    opened = Episode(sandbox_opener(options), options)
    yield opened
    opened.close()


def test_every_cause_is_measured() -> None:
    """A family that joins is measured, and one that leaves is forgotten: measure_difficulty."""
    assert [(row.family, row.cause) for row in measured()] == [
        (family, cause) for family in families() for cause in causes(family)
    ]


def test_the_file_is_as_it_is_written() -> None:
    assert measure_difficulty.FILE.read_text() == measure_difficulty.written(measured())


def test_figures_are_shares_and_the_oracle_takes_a_step() -> None:
    for row in measured():
        assert 0 <= row.guess <= row.any_guess <= 1
        assert 0 <= row.haphazard <= 1
        assert row.oracle_steps >= 1
        assert row.worlds >= 1


@pytest.mark.parametrize(
    ("any_guess", "haphazard", "level"),
    [(0.0, 0.0, "hard"), (0.2, 0.0, "medium"), (0.0, 0.4, "medium"), (0.5, 0.0, "easy"), (0.0, 0.6, "easy")],
)
def test_a_level_is_what_guessing_reaches_at_best(any_guess: float, haphazard: float, level: str) -> None:
    assert Measured("family", "cause", 5, 0.0, any_guess, haphazard, 3.0).level == level


def test_the_repair_that_fits_is_enough(episode: Episode) -> None:
    """And one that does not fit is not."""
    assert steps(SHUT, typed([guess(SHUT.instruction, REPAIRS["set modes"])]), episode) == 1
    assert steps(SHUT, typed([guess(SHUT.instruction, REPAIRS["line ends"])]), episode) is None


def test_a_guess_does_what_the_instruction_quotes(episode: Episode) -> None:
    """In the place that it names, and nearest to one that is not there yet."""
    task = Task(
        "quoted",
        "I need /home/agent/a/b/c.txt, but `touch made` there does not work.",
        goal=(FileExists(path=f"{HOME}/a/made"),),
        files=(FileSpec(f"{HOME}/a", kind="dir", mode=0o755),),
    )
    assert steps(task, typed([guess(task.instruction, REPAIRS["do as told"])]), episode) == 1


def test_a_program_that_asks_is_interrupted(episode: Episode) -> None:
    """Nobody who does not read can answer, and the next command still has to run."""
    commands = ["cat > /dev/null", f"mkdir {HOME}/made"]
    task = Task("asks", "Make it.", goal=(FileExists(path=f"{HOME}/made", kind="dir"),))
    assert steps(task, typed(commands), episode) == 3


def test_measures_what_guessing_and_the_oracle_reach(episode: Episode) -> None:
    """A missing x bit is guessed, and by one of the repairs alone."""
    row = measure("permission-denied", "not-executable", 1, episode)
    assert row[:3] == ("permission-denied", "not-executable", 1)
    assert (row.any_guess, row.guess, row.oracle_steps) == (1.0, 1 / len(REPAIRS), 3.0)


def test_who_guesses_knows_the_instruction_and_nothing_else() -> None:
    """The same words and seed, the same commands; other seeds draw others."""
    first, again, other = (list(itertools.islice(haphazard("Mend ~/a/b.", seed), 20)) for seed in (7, 7, 8))
    assert first == again
    assert first[0] == other[0]
    assert first != other
