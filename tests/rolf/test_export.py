from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from rolf.cache import VARIABLE
from rolf.cli import main
from termgym.folders import intercode, read_folder
from termgym.folders.queries import QUERIES
from termgym.tasks import make_task


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path_factory.mktemp("cache")))


def run(*args: object) -> tuple[int, str, str]:
    ended = CliRunner().invoke(main, ["tasks", *map(str, args)])
    return ended.exit_code, ended.stdout, ended.stderr


@pytest.mark.parametrize(("name", "same"), [("config-edit@4", ("config-edit", 4)), ("port-in-use", ("port-in-use", 0))])
def test_exports_a_task_that_reads_back(name: str, same: tuple[str, int], tmp_path: Path) -> None:
    assert run("export", name, tmp_path / "x") == (0, f"{tmp_path}/x\n", "")
    assert read_folder(tmp_path / "x").task == make_task(*same)


def test_exports_a_folder_anew(tmp_path: Path) -> None:
    fixture = Path(__file__).parents[1] / "termgym" / "folders" / "fixtures" / "harbor-version-1-0"
    assert run("export", fixture, tmp_path / "harbor-version-1-0")[0] == 0
    assert read_folder(tmp_path / "harbor-version-1-0").task == read_folder(fixture).task


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("no-such-task", "'no-such-task' is no task that can be written as a folder"),
        ("config-edit/none", "no cause 'none' in task family 'config-edit'"),
        ("blank", "has no goal that shows from outside"),
        ("/nowhere", "/nowhere: is not there"),
    ],
)
def test_says_what_cannot_be_exported(name: str, said: str, tmp_path: Path) -> None:
    code, out, error = run("export", name, tmp_path / "x")
    assert (code, out) == (2, "")
    assert said in error
    assert list(tmp_path.iterdir()) == []


def test_does_not_overwrite(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    code, _, error = run("export", "config-edit", tmp_path)
    assert code == 2
    assert "is there already; give a directory that is not, or an empty one" in error


def test_makes_folders_of_a_collection(tmp_path: Path) -> None:
    queries = [{"query": f"Do {n} {query.said[0]}", "gold": "true"} for n, query in enumerate(QUERIES)]
    for name, text in ((intercode.DATA, json.dumps(queries)), (intercode.SETUP, "#!/bin/sh\n")):
        (tmp_path / "source" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "source" / name).write_text(text)
    code, out, _ = run("import", "intercode", tmp_path / "source", tmp_path / "made")
    assert code == 0
    assert out.splitlines() == [str(tmp_path / "made" / f"intercode-bash-{n:02d}") for n in range(1, 25)]


def test_says_which_collections_there_are(tmp_path: Path) -> None:
    code, _, error = run("import", "swe-bench", tmp_path, tmp_path / "made")
    assert code == 2
    assert "no collection 'swe-bench'; there are debug-gym, intercode" in error
    code, _, error = run("import", "debug-gym", tmp_path, tmp_path / "made")
    assert code == 2
    assert "give the unpacked sdist of debug-gym" in error
