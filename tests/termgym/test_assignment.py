from __future__ import annotations

from collections import Counter
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest

from rolf.cache import VARIABLE
from termgym.assignment import Assignment, names_folder
from termgym.errors import FolderError, UnknownTask
from termgym.tasks import Task, make_task

FIXTURES = Path(__file__).parent / "folders" / "fixtures"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def some(tmp_path: Path) -> Path:
    """Return a directory of three task folders, two of them a level deeper."""
    copytree(FIXTURES / "harbor-minimal", tmp_path / "b")
    copytree(FIXTURES / "bench-usual", tmp_path / "more" / "a")
    copytree(FIXTURES / "harbor-steps", tmp_path / "more" / "c")
    (tmp_path / ".hidden").mkdir()
    return tmp_path


def drawn(assignment: Assignment, seed: int, options: dict[str, int] | None = None) -> Task:
    return assignment.next(np.random.default_rng(seed), options)


def test_takes_the_path_of_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    by_text = drawn(Assignment(str(FIXTURES / "harbor-minimal")), 0)
    assert by_text == drawn(Assignment(FIXTURES / "harbor-minimal"), 1)
    monkeypatch.chdir(FIXTURES)
    assert by_text == drawn(Assignment("harbor-minimal"), 2)
    assert by_text == drawn(Assignment("./harbor-minimal"), 3)
    monkeypatch.setenv("HOME", str(FIXTURES))
    assert by_text == drawn(Assignment("~/harbor-minimal"), 4)


def test_a_folder_with_a_mistake_is_refused_when_the_environment_is_made(tmp_path: Path) -> None:
    with pytest.raises(FolderError, match="is not there"):
        Assignment(str(tmp_path / "nowhere"))
    with pytest.raises(FolderError, match=r"has neither a task\.toml"):
        Assignment(tmp_path)


def test_a_familys_name_goes_before_a_directory_of_that_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "port-in-use" / "occupied").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert not names_folder("port-in-use")
    assert not names_folder("port-in-use/occupied")
    assert names_folder("./port-in-use")
    with pytest.raises(UnknownTask, match="no task family 'neither'"):
        Assignment("neither")


def test_a_seed_draws_one_of_several_folders(some: Path) -> None:
    assignment = Assignment(None, some)
    assert drawn(assignment, 7) == drawn(Assignment(None, str(some)), 7)
    counts = Counter(drawn(assignment, seed).id for seed in range(300))
    assert set(counts) == {"b", "a", "c"}
    assert min(counts.values()) > 60
    assert [drawn(assignment, 0, {"world_seed": seed}).id for seed in range(4)] == ["b", "a", "c", "b"]


def test_several_may_be_of_every_kind(some: Path) -> None:
    own = Task(id="own", instruction="")
    assignment = Assignment(None, ["port-in-use", some / "b", own])
    tasks = [drawn(assignment, 0, {"world_seed": seed}) for seed in (0, 1, 2, 3)]
    assert tasks[0] == make_task("port-in-use", 0)
    assert [task.id for task in tasks[1:3]] == ["b", "own"]
    assert tasks[3] == make_task("port-in-use", 1)


def test_a_folder_among_several_is_read_once_and_when_its_turn_comes(some: Path) -> None:
    (some / "b" / "task.toml").write_text("[environment]\ncpus = -1\n")
    assignment = Assignment(None, some)
    assert drawn(assignment, 0, {"world_seed": 1}) is drawn(assignment, 0, {"world_seed": 4})
    with pytest.raises(FolderError, match=r"environment.cpus=-1 \(line 2\)"):
        drawn(assignment, 0, {"world_seed": 0})


def test_what_makes_no_sense_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="are both given; give one of the two"):
        Assignment("blank", tmp_path)
    with pytest.raises(ValueError, match="holds no task; give a directory of task folders"):
        Assignment(None, tmp_path)
    with pytest.raises(ValueError, match=r"tasks=\[\] holds no task"):
        Assignment(None, [])
    with pytest.raises(TypeError, match="task=3 is of type int; give a name"):
        Assignment(None, [3])  # type: ignore[list-item]  # wrong on purpose
    with pytest.raises(FolderError, match="is not there; give a directory of task folders"):
        Assignment(None, tmp_path / "nowhere")
