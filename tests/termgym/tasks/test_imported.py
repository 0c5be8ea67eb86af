"""``module:NAME``: tasks of one's own, validated by the same command as those of the package."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from termgym.errors import UnknownTask
from termgym.tasks.imported import imported
from termgym.tasks.validation import validate_all

MODULE = """
from termgym.tasks import Task, FileSpec
from termgym.tasks.family import Family, act
from termgym.tasks.world import World

def _made(world: World) -> Task:
    return Task(id=world.name, instruction="Make it.", goal=[{"type": "file_exists", "path": "/home/agent/made"}],
                oracle=(act("touch made"),))

TASK = Task(id="own", instruction="Make it.", goal=[{"type": "file_exists", "path": "/home/agent/made"}],
            oracle=(act("touch made"),))
FAMILY = Family("own-family", "it is not made", {"one": _made, "two": _made})
NUMBER = 7

def task(seed):
    return Task(id=f"own@{seed}", instruction="Make it.", seed=seed)

def wrong(seed):
    return Task(id="own", instruction="Make it.", files=[FileSpec("/etc/passwd")])

def none(seed):
    return None
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "own_tasks.py").write_text(MODULE)
    (tmp_path / "own_broken.py").write_text("import not_installed_anywhere\n")
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("own_tasks:TASK", ["own"]),
        ("own_tasks:task", ["own@0", "own@1"]),
        ("own_tasks:FAMILY", ["own-family/one@0", "own-family/one@1", "own-family/two@0", "own-family/two@1"]),
    ],
)
def test_a_name_in_a_module_stands_for_its_tasks(module: Path, name: str, ids: list[str]) -> None:
    assert [task.id for task in imported(name, 2)] == ids


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no_such_module:TASK", "no module 'no_such_module' to find 'no_such_module:TASK' in"),
        ("own_tasks:OTHER", "module 'own_tasks' has no 'OTHER'; write 'module:NAME'"),
        ("own_tasks:NUMBER", r"own_tasks:NUMBER is 7 of type int; allowed are a Task, a function \(seed\) -> Task, a "),
        ("own_tasks:none", r"own_tasks:none\(seed\) is None of type NoneType; allowed are a Task"),
        ("own_tasks:wrong", "'own_tasks:wrong' makes no task: FileSpec: path='/etc/passwd' lies outside"),
        (":TASK", "':TASK' names no module"),
        (".x:TASK", "'.x:TASK' names no module"),
    ],
)
def test_what_is_no_task_is_refused_before_anything_is_played(module: Path, name: str, message: str) -> None:
    with pytest.raises(UnknownTask, match=message):
        next(validate_all(["config-edit", name]))


def test_a_module_that_lacks_something_says_what(module: Path) -> None:
    """'No module own_broken' would send its author looking in the wrong place."""
    with pytest.raises(ModuleNotFoundError, match="not_installed_anywhere"):
        imported("own_broken:TASK", 1)


def test_the_command_validates_a_task_in_the_working_directory(module: Path) -> None:
    """As the guide says it: write a file, type one line."""
    command = [Path(sys.executable).parent / "rolf", "tasks", "validate"]
    done = subprocess.run([*command, "own_tasks:TASK", "--json"], cwd=module, capture_output=True, text=True)
    assert json.loads(done.stdout)["problems"] == [], done.stderr
    assert done.returncode == 0
    done = subprocess.run([*command, "own_tasks:wrong"], cwd=module, capture_output=True, text=True)
    assert done.returncode == 2
    assert "lies outside what a task may write" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
