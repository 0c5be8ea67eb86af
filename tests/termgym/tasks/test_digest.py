"""A digest is of the content: it moves with all that makes another task, and with nothing else."""

from __future__ import annotations

import pickle
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from termgym.checks import FileExists
from termgym.image import Recipe
from termgym.plan import ActionPlan
from termgym.tasks import HOME, FileSpec, Limits, Service, Task, causes, families, make_task
from termgym.tasks.digest import combined, task_digest
from termgym.tasks.verifier import Solution, Stage, Verifier

TASK = Task("mine", "Make it.", goal=(FileExists(path=f"{HOME}/a"),), oracle=(ActionPlan(command="touch a"),))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "folder" / "sub").mkdir(parents=True)
    (tmp_path / "folder" / "sub" / "test.sh").write_text("true\n")
    (tmp_path / "folder" / "link").symlink_to("sub")
    return tmp_path / "folder"


@pytest.mark.parametrize(
    "change",
    [
        {"instruction": "Make it now."},
        {"goal": (FileExists(path=f"{HOME}/b"),)},
        {"goal": ()},
        {"oracle": (ActionPlan(command="touch a", timeout=9),)},
        {"files": (FileSpec(f"{HOME}/a"),)},
        {"files": (FileSpec(f"{HOME}/a", mode=0o600),)},
        {"setup": "true"},
        {"services": (Service(("true",)),)},
        {"limits": Limits(processes=9)},
        {"required_env": {"A": "*"}},
        {"max_steps": 9},
        {"allowed": ("/tmp/**",)},
        {"image": Recipe(reference="debian:12")},
        {"goal": (), "verifier": Verifier("/usr/share/doc/bash")},
        {"goal": (), "oracle": (), "solution": Solution("/usr/share/doc/bash"), "image": Recipe(reference="debian:12")},
    ],
)
def test_another_content_has_another_digest(change: dict[str, object]) -> None:
    assert task_digest(replace(TASK, **change)) != task_digest(TASK)  # type: ignore[arg-type]  # by name


@pytest.mark.parametrize("change", [{"id": "other"}, {"family": "f", "cause": "c", "seed": 4}, {"tags": ("new",)}])
def test_a_name_is_no_content(change: dict[str, object]) -> None:
    """Two worlds that are the same under two names would leak from training into a test."""
    assert task_digest(replace(TASK, **change)) == task_digest(TASK)  # type: ignore[arg-type]  # by name


def test_files_with_each_other_s_content_are_told_apart() -> None:
    one, other = [
        task_digest(replace(TASK, files=(FileSpec(f"{HOME}/a", a), FileSpec(f"{HOME}/b", b))))
        for a, b in ((b"1", b"2"), (b"2", b"1"))
    ]
    assert one != other


def of(folder: Path) -> str:
    """Return the digest of a task that holds a folder in all its places."""
    here = str(folder)
    verifier, solution = Verifier(here), Solution(here)
    stages = (Stage("one", "", verifier, solution, workdir=here),)
    staged = Task("staged", "Do all.", image=Recipe(here, f"{here}/sub/test.sh"), stages=stages)
    return combined([task_digest(staged), task_digest(replace(TASK, tree=here))])


def test_a_folder_counts_by_what_is_in_it(folder: Path, tmp_path: Path) -> None:
    """A checkout elsewhere, at another time, under another umask holds the same task."""
    before = of(folder)
    copy = tmp_path / "elsewhere"
    shutil.copytree(folder, copy, symlinks=True)
    (copy / "sub" / "test.sh").chmod(0o600)
    assert of(copy) == before


@pytest.mark.parametrize("edit", ["content", "mode", "name", "link", "new", "gone"])
def test_an_edited_folder_is_another_task(folder: Path, edit: str) -> None:
    """The verdict about the old one must not be taken for the new one."""
    before = of(folder)
    script = folder / "sub" / "test.sh"
    if edit == "content":
        script.write_text("false\n")
    elif edit == "mode":
        script.chmod(0o755)
    elif edit == "name":
        (folder / "sub").rename(folder / "other")
        (folder / "other" / "test.sh").rename(folder / "other" / "t")
        (folder / "sub").symlink_to("other")
        (folder / "sub" / "test.sh").symlink_to("t")
    elif edit == "link":
        (folder / "link").unlink()
        (folder / "link").symlink_to(".")
    elif edit == "new":
        (folder / "new").write_bytes(b"")
    else:
        (folder / "link").unlink()
    assert of(folder) != before


def test_a_folder_that_is_gone_is_an_error(folder: Path) -> None:
    task = replace(TASK, tree=str(folder))
    shutil.rmtree(folder)
    with pytest.raises(FileNotFoundError):
        task_digest(task)


def test_every_cause_has_its_own_and_another_process_finds_the_same() -> None:
    """Hashes of strings differ from process to process; digests must not."""
    names = [f"{family}/{cause}" for family in families() for cause in causes(family)]
    digests = [task_digest(make_task(name, seed)) for name in names for seed in (0, 1)]
    assert len(set(digests)) == len(digests)
    script = (
        "from termgym.tasks import *; from termgym.tasks.digest import *\n"
        f"print(combined(task_digest(make_task(name, seed)) for name in {names!r} for seed in (0, 1)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == combined(digests)


def test_a_digest_stays_what_it_is() -> None:
    """Results are kept by it over versions; a field that is added with a default must not move it."""
    assert task_digest(TASK) == "97ea0f17cf4866344a53a5d6873b78d9e20519953c732270e66ea0f1d4e2bb01"


def test_a_task_reaches_another_process_whole() -> None:
    """Several processes validate; what they get must be the task that was named."""
    for task in (make_task(f"{family}/{causes(family)[0]}", 3) for family in families()):
        assert pickle.loads(pickle.dumps(task)) == task
        assert task_digest(pickle.loads(pickle.dumps(task))) == task_digest(task)
