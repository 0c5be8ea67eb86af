from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from termgym.errors import FolderError
from termgym.folders import read_folder, write_folder
from termgym.image import Recipe
from termgym.tasks.task import Limits, Task
from termgym.tasks.verifier import Verifier

Where = Callable[[str], Path]
FIXTURES = Path(__file__).parent / "fixtures"
ALL = sorted(path.name for path in FIXTURES.iterdir())
HARBOR = [name for name in ALL if name.startswith("harbor-")]


def names(unknown: tuple[str, ...]) -> list[str]:
    """Return unknown keys without their lines, which may move."""
    return [each.partition(" (")[0] for each in unknown]


def table(path: Path) -> dict[str, Any]:
    if (path / "task.toml").exists():
        return tomllib.loads((path / "task.toml").read_text())
    found: dict[str, Any] = yaml.safe_load((path / "task.yaml").read_text())
    return found


def value(data: Any, name: str) -> Any:
    for part in name.split("."):
        data = data[part]
    return data


@pytest.mark.parametrize("name", ALL)
def test_a_folder_written_again_is_the_same_task(name: str, folder: Where, tmp_path: Path) -> None:
    before = read_folder(folder(name))
    write_folder(before, tmp_path / name)
    after = read_folder(tmp_path / name)
    assert after.task == before.task
    assert (after.kind, after.schema) == (before.kind, before.schema)
    assert names(after.unknown) == names(before.unknown)
    for key in names(before.unknown):
        assert value(table(tmp_path / name), key) == value(table(folder(name)), key)
    assert {key: told for key, told in after.metadata.items() if key != "rolf"} == {
        key: told for key, told in before.metadata.items() if key != "rolf"
    }


@pytest.mark.parametrize("name", ALL)
def test_twice_written_is_once_written(name: str, folder: Where, tmp_path: Path) -> None:
    write_folder(read_folder(folder(name)), tmp_path / "once" / name)
    write_folder(read_folder(tmp_path / "once" / name), tmp_path / "twice" / name)
    once, twice = tmp_path / "once" / name, tmp_path / "twice" / name
    assert table(once) == table(twice)
    assert contents(once) == contents(twice)


def contents(top: Path) -> dict[str, bytes]:
    """Return all files but the table, whose blank lines may differ."""
    files = (path for path in sorted(top.rglob("*")) if path.is_file() and path.name != "task.toml")
    return {str(path.relative_to(top)): path.read_bytes() for path in files}


@pytest.mark.parametrize("name", HARBOR)
def test_a_bare_task_becomes_a_harbor_folder(name: str, folder: Where, tmp_path: Path) -> None:
    task = read_folder(folder(name)).task
    write_folder(task, tmp_path / "other-name")
    assert read_folder(tmp_path / "other-name").task == task


def test_a_changed_task_is_written_over_what_the_folder_said(folder: Where, tmp_path: Path) -> None:
    before = read_folder(folder("harbor-unknown-keys"))
    task = replace(
        before.task,
        instruction="Another one.\n",
        max_steps=7,
        limits=Limits(memory_bytes=256 << 20, processes=9),
        verifier=replace(before.task.verifier or Verifier(""), timeout=5.0),
    )
    write_folder(replace(before, task=task), tmp_path / before.task.id)
    after = read_folder(tmp_path / before.task.id)
    assert after.task == task
    assert names(after.unknown) == names(before.unknown)


def test_what_the_host_gave_is_not_written_down(folder: Where, tmp_path: Path) -> None:
    offered = {"HARBOR_FIXTURE_JUDGE_KEY": "a secret", "HARBOR_FIXTURE_REGION": "us"}
    before = read_folder(folder("harbor-variables"), host_env=offered)
    write_folder(before, tmp_path / "harbor-variables")
    written = tmp_path / "harbor-variables"
    assert b"a secret" not in b"".join(path.read_bytes() for path in written.rglob("*") if path.is_file())
    assert "${HARBOR_FIXTURE_JUDGE_KEY}" in (tmp_path / "harbor-variables" / "task.toml").read_text()
    assert read_folder(tmp_path / "harbor-variables", host_env=offered).task == before.task


def test_an_edited_yaml_task_keeps_its_kind(folder: Where, tmp_path: Path) -> None:
    before = read_folder(folder("bench-unknown-keys"))
    write_folder(replace(before, task=replace(before.task, instruction="Another.")), tmp_path / before.task.id)
    after = read_folder(tmp_path / before.task.id)
    assert (after.task.instruction, after.kind) == ("Another.", "terminal-bench")


def test_what_is_there_is_not_overwritten(folder: Where, tmp_path: Path) -> None:
    found = read_folder(folder("harbor-minimal"))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(FolderError, match="full: is there already; give a directory that is not, or an empty one"):
        write_folder(found, tmp_path / "full")
    (tmp_path / "empty").mkdir()
    write_folder(found, tmp_path / "empty")
    assert (tmp_path / "empty" / "task.toml").exists()
    with pytest.raises(FolderError, match="is there already"):
        write_folder(found, tmp_path / "empty")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"verifier": Verifier("/nowhere", command=("python3", "/tests/t.py"))},
            "cannot be said by Harbor, which runs",
        ),
        ({"verifier": Verifier("/nowhere", format="pytest")}, "cannot be said by Harbor"),
        ({"family": "f"}, "the format cannot say all of task .*: family would be ''; nothing was written"),
        ({"image": Recipe(context="/usr/share", dockerfile="/etc/Dockerfile")}, "lies outside context='/usr/share'"),
        ({"id": "a task", "seed": 3, "cause": "c"}, "cause would be ''; seed would be 0"),
    ],
)
def test_what_a_format_cannot_say_is_refused_and_leaves_nothing(
    changes: dict[str, object], said: str, folder: Where, tmp_path: Path
) -> None:
    task = replace(read_folder(folder("harbor-minimal")).task, **changes)  # type: ignore[arg-type]  # some of its fields
    with pytest.raises(FolderError, match=said):
        write_folder(task, tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


def test_terminal_bench_is_written_as_the_task_it_was(folder: Where, tmp_path: Path) -> None:
    found = read_folder(folder("bench-usual"))
    with pytest.raises(FolderError, match="cannot be said by Harbor"):
        write_folder(found.task, tmp_path / "bench-usual")
    with pytest.raises(FolderError, match="is no longer one of Terminal-Bench 1"):
        write_folder(found, tmp_path / "other")


def test_a_task_without_image_and_without_a_visible_goal_cannot_be_exported(tmp_path: Path) -> None:
    with pytest.raises(FolderError, match="has no goal that shows from outside"):
        write_folder(Task(id="x", instruction="Look around."), tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


def test_a_task_about_the_system_keeps_its_unguarded_verifier(folder: Where, tmp_path: Path) -> None:
    """Else the agent's work on the system's programs would be hidden from who judges it."""
    task = read_folder(folder("harbor-minimal")).task
    assert task.verifier is not None
    assert task.verifier.guard
    open_task = replace(task, verifier=replace(task.verifier, guard=False))
    write_folder(open_task, tmp_path / "open")
    assert "guard = false" in (tmp_path / "open/task.toml").read_text()
    again = read_folder(tmp_path / "open").task
    assert again.verifier is not None
    assert not again.verifier.guard
