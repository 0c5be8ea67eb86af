"""``rolf tasks rootfs`` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rolf.cache import VARIABLE
from rolf.cli import main
from termgym.image import Store
from termgym.image.roots import keep_root


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    store = Store()
    with store.scratch() as room:
        (room / "made/tree").mkdir(parents=True)
        about = {"suite": "bookworm", "system": "Debian GNU/Linux 12", "include": ["git"]}
        keep_root(store, "own", room / "made/tree", about, "identity")
    return lambda *words: CliRunner().invoke(main, ["tasks", "rootfs", *words])


def test_lists_what_there_is(run) -> None:
    assert run("list").stdout == "own             Debian GNU/Linux 12 (bookworm) with git\n"
    row = json.loads(run("list", "--json").stdout)
    assert (row["name"], Path(row["path"]).is_dir()) == ("own", True)
    assert run("path", "own").stdout == row["path"] + "\n"


def test_removes_one(run) -> None:
    assert run("remove", "own").exit_code == 0
    assert run("list").stdout == ""


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("path", "other"), 2, "no root filesystem is called 'other'; there are: own"),
        (("remove", "other"), 2, "(`rolf tasks rootfs build other` makes one)"),
        (("remove", "../x"), 2, "cannot name a root filesystem"),
        (("build", "other"), 1, "'other' does not say which suite; give one (--suite bookworm)"),
        (("build", "UPPER"), 1, "allowed are a-z 0-9 . _ -"),
    ],
)
def test_says_what_is_wrong(run, words: tuple[str, ...], status: int, said: str) -> None:
    result: Result = run(*words)
    assert result.exit_code == status
    assert said in result.stderr
