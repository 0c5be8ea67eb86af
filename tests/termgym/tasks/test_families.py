"""What every family owes: an instruction that does not tell the cause, a tight fence, proof and symptom.

The family in the guide owes it too, for everybody's first one is a copy of it.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import termgym
from termgym.checks import CommandSucceeds
from termgym.globs import outside
from termgym.snapshot.change import Change, ChangeKind
from termgym.tasks import HOME, families
from termgym.tasks.families import FAMILIES
from termgym.tasks.family import Family
from termgym.tasks.task import Task

GUIDE = Path(__file__).parents[3] / "docs" / "how-to" / "add-a-task.md"


def blocks() -> list[str]:
    """Return the guide's Python, without the indentation that a list gives it."""
    found = re.findall(r"^( *)```python\n(.*?)^ *```$", GUIDE.read_text(), re.DOTALL | re.MULTILINE)
    return [re.sub(f"^{indent}", "", code, flags=re.MULTILINE) for indent, code in found]


def run(*words: str) -> dict[str, Any]:
    """Run those of the guide's blocks in which one of the words stands, in the order of the page."""
    names: dict[str, Any] = {}
    for code in blocks():
        if any(word in code for word in words):
            exec(code, names)
    return names


EVERY_FAMILY: tuple[Family, ...] = (*FAMILIES, run("FAMILY = Family(")["FAMILY"])
FAMILY = pytest.mark.parametrize("family", EVERY_FAMILY, ids=lambda family: family.name)
CAUSE = pytest.mark.parametrize(
    ("family", "cause"),
    [pytest.param(family, cause, id=f"{family.name}/{cause}") for family in EVERY_FAMILY for cause in family.causes],
)


def some(family: Family, seed: int) -> Task:
    """Return a task of any cause."""
    return family.make(list(family.causes)[seed % len(family.causes)], seed)


def test_a_file_in_the_folder_is_a_family() -> None:
    """The guide says that nothing else registers it."""
    folder = Path(termgym.__file__).parent / "tasks" / "families"
    named = sorted(path.stem.replace("_", "-") for path in folder.glob("[a-z]*.py"))
    assert [family.name for family in FAMILIES] == list(families()) == named


def test_the_family_of_the_guide_works_where_it_is_to_be_copied(tmp_path: Path) -> None:
    """It is imported there while its package still is, which a block on a page does not show."""
    shutil.copytree(Path(termgym.__file__).parent, tmp_path / "termgym")
    (code,) = (code for code in blocks() if "FAMILY = Family(" in code)
    (tmp_path / "termgym" / "tasks" / "families" / "count_refused.py").write_text(code)
    script = "from termgym.tasks import make_task; print(make_task('count-refused', 4).id.partition('/')[0])"
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "count-refused\n", done.stderr


def test_the_tricks_of_the_guide_fail_and_its_solution_does_not(attempt: Callable[..., bool]) -> None:
    """A test that is to be copied must be able to fail."""
    names = run("FAMILY = Family(", "def test_")
    trick = names["test_a_number_without_the_program_does_not_count"]
    (marked,) = trick.pytestmark
    for command in marked.args[1]:
        trick(attempt, command)
    task = names["FAMILY"].make("no-x-bit", 0)
    assert attempt(task, *(plan.command for plan in task.oracle))


@FAMILY
def test_there_is_something_to_tell_apart(family: Family) -> None:
    assert len(family.causes) >= 2
    assert 0 < len(family.summary) < 80


@FAMILY
def test_the_instruction_does_not_tell_the_cause(family: Family) -> None:
    """Telling causes apart is the skill: with the same seed, all causes are asked for in the very same words."""
    for seed in range(12):
        assert len({family.make(cause, seed).instruction for cause in family.causes}) == 1


@FAMILY
def test_nothing_but_the_cause_gives_the_cause_away(family: Family) -> None:
    """What may change, how much may be used and how long it may take are the same for all causes."""
    for seed in range(5):
        tasks = [family.make(cause, seed) for cause in family.causes]
        assert len({(task.allowed, task.limits, task.max_steps, task.read_only, task.tags) for task in tasks}) == 1


@FAMILY
def test_an_instruction_is_a_persons_words(family: Family) -> None:
    wordings = {some(family, seed).instruction.split()[0] for seed in range(20)}
    assert len(wordings) >= 2
    for seed in range(20):
        instruction = some(family, seed).instruction
        assert 100 < len(instruction) < 700
        assert "  " not in instruction
        assert instruction.endswith(".")


@CAUSE
def test_a_task_is_complete(family: Family, cause: str) -> None:
    task = family.make(cause, 2)
    assert task.goal
    assert task.oracle
    assert task.symptom
    assert (task.family, task.cause, task.seed) == (family.name, cause, 2)
    assert all(plan.expected_exit_code == 0 for plan in task.oracle)
    paths = [file.path for file in task.files]
    assert len(paths) == len(set(paths))
    assert all(path.startswith((HOME, "/srv/")) for path in paths)
    assert all(check.timeout <= 10 for check in task.goal if isinstance(check, CommandSucceeds))


@CAUSE
def test_what_may_change_is_fenced_tightly(family: Family, cause: str) -> None:
    """Clutter and shared places never belong to what a task lets go."""
    task = family.make(cause, 2)
    elsewhere = [file.path for file in task.files if "/notes/" in file.path or "/Downloads/" in file.path]
    elsewhere += [f"{HOME}/new", f"{HOME}/.bashrc", "/srv/new"]
    changes = [Change(path, ChangeKind.CONTENT) for path in elsewhere]
    assert outside(changes, task.allowed) == tuple(sorted(elsewhere))


@CAUSE
def test_another_seed_makes_another_world(family: Family, cause: str) -> None:
    worlds = [family.make(cause, seed) for seed in range(8)]
    assert worlds == [family.make(cause, seed) for seed in range(8)]
    assert len({world.instruction for world in worlds}) == 8
    assert len({world.files for world in worlds}) == 8
    assert len({world.goal for world in worlds}) == 8
