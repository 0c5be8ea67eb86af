from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from termgym.checks import (
    Check,
    CommandSucceeds,
    FileAbsent,
    FileExists,
    FileHash,
    FileMode,
    LinkTarget,
    PortOpen,
    ProcessRunning,
    TextInFile,
    VariableSet,
)
from termgym.errors import FolderError
from termgym.folders import outside, read_folder, write_folder
from termgym.plan import ActionPlan
from termgym.sandbox.environment import EPOCH
from termgym.tasks import FileSpec, Task, causes, families, make_task
from termgym.tasks.family import sha256

GENERATED = [f"{family}/{cause}" for family in families() for cause in causes(family)]


@pytest.mark.parametrize("name", GENERATED)
def test_every_generated_task_reads_back_as_it_was(name: str, tmp_path: Path) -> None:
    for seed in (0, 1):
        task = make_task(name, seed)
        write_folder(task, tmp_path / str(seed))
        found = read_folder(tmp_path / str(seed))
        assert found.task == task
        assert found.task.required_env == task.required_env
        assert (found.unknown, found.notes) == ((), ())


@pytest.mark.parametrize("name", GENERATED)
def test_every_exported_script_is_one_that_bash_understands(name: str, tmp_path: Path) -> None:
    write_folder(make_task(name, 0), tmp_path / "x")
    for script in sorted((tmp_path / "x").rglob("*.sh")):
        ended = subprocess.run(["bash", "-n", str(script)], capture_output=True, text=True, check=False)
        assert (ended.returncode, ended.stderr) == (0, ""), script


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    write_folder(make_task("config-edit", 3), tmp_path / "config")
    return tmp_path / "config"


@pytest.mark.parametrize(
    "file", ["instruction.md", "environment/files/0000", "tests/checks.json", "environment/rolf/task.json"]
)
def test_an_edited_folder_is_read_as_it_stands(file: str, exported: Path) -> None:
    (exported / file).write_text((exported / file).read_text() + " ")
    found = read_folder(exported)
    assert "was made of a generated task and edited since" in found.notes[-1]
    assert found.task.image is not None
    assert found.task.verifier is not None
    assert found.task.goal == ()


def test_an_edited_table_or_mode_is_noticed_and_a_moved_folder_is_not(exported: Path, tmp_path: Path) -> None:
    moved = exported.rename(tmp_path / "elsewhere")
    (moved / "tests" / "judge.py").chmod(0o664)  # as another umask would have it
    assert read_folder(moved).task == make_task("config-edit", 3)
    (moved / "tests" / "judge.py").chmod(0o755)
    assert read_folder(moved).task.image is not None
    (moved / "tests" / "judge.py").chmod(0o644)
    table = (moved / "task.toml").read_text()
    (moved / "task.toml").write_text(table.replace("timeout_sec = 120.0", "timeout_sec = 121.0"))
    assert read_folder(moved).task.image is not None
    (moved / "task.toml").write_text(f"# a comment\n{table}")
    assert read_folder(moved).task.image is None


def test_data_that_is_none_is_refused(exported: Path) -> None:
    from termgym.folders.generated import digest

    (exported / "environment" / "rolf" / "task.json").write_text('{"id": 3}\n')
    table = (exported / "task.toml").read_text()
    import tomllib

    file = tomllib.loads(table)
    old = file["metadata"]["rolf"]["digest"]
    (exported / "task.toml").write_text(table.replace(old, digest(exported, file)))
    with pytest.raises(FolderError, match=r"task\.json: is no task as data: KeyError: .*; export it again"):
        read_folder(exported)


def test_what_does_not_show_outside_is_told(tmp_path: Path) -> None:
    goal: tuple[Check, ...] = (VariableSet(name="MODE"), FileExists(path="/home/agent/x"))
    task = Task(id="own", instruction="Set MODE.", goal=goal, read_only=("/srv/data",))
    write_folder(task, tmp_path / "own")
    assert read_folder(tmp_path / "own").task == task
    table = (tmp_path / "own" / "task.toml").read_text()
    assert "/srv/data is not mounted read-only" in table
    assert "shell variable MODE is not looked at" in table
    written = json.loads((tmp_path / "own" / "tests" / "checks.json").read_text())["checks"]
    assert written == [{"type": "file_exists", "path": "/home/agent/x"}]
    with pytest.raises(FolderError, match="has no goal that shows from outside the shell"):
        write_folder(replace(task, goal=goal[:1]), tmp_path / "variable")
    with pytest.raises(FolderError, match="tree='/usr' lies on this host"):
        write_folder(replace(task, tree="/usr"), tmp_path / "tree")


def test_bytes_and_odd_names_survive(tmp_path: Path) -> None:
    files = (
        FileSpec("/home/agent/a dir", kind="dir", mode=0o750),
        FileSpec("/home/agent/a dir/it's $HOME", bytes(range(256)), mode=0o600),
        FileSpec("/home/agent/link", b"a dir/it's $HOME", kind="symlink"),
    )
    task = Task(id="odd", instruction="Grüße", goal=(FileExists(path="~/x"),), files=files, setup="echo 'ü'\n")
    write_folder(task, tmp_path / "odd")
    assert read_folder(tmp_path / "odd").task == task


def test_the_files_are_as_old_as_here(exported: Path) -> None:
    assert (
        f"\nfind /home/agent /srv -exec touch -h -d @{EPOCH} {{}} +\n"
        in (exported / "environment" / "prepare.sh").read_text()
    )


def judged(checks: list[Check], home: Path, tmp_path: Path) -> str:
    """Return the verdict of the judge as it lies in a folder: a program of its own."""
    told = [{"type": check.type, **check.model_dump(mode="json", exclude_defaults=True)} for check in checks]
    (tmp_path / "checks.json").write_text(json.dumps({"home": str(home), "user": 1000, "checks": told}))
    argv = [
        sys.executable,
        "-I",
        outside.__file__,
        str(tmp_path / "checks.json"),
        str(tmp_path / "logs" / "reward.txt"),
    ]
    subprocess.run(argv, check=True, capture_output=True)
    return (tmp_path / "logs" / "reward.txt").read_text()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    top = tmp_path / "home"
    top.mkdir()
    (top / "a.txt").write_text("one\ntwo\n")
    (top / "a.txt").chmod(0o640)
    (top / "link").symlink_to("a.txt")
    for path in (tmp_path, *tmp_path.parents):  # the agent's commands run as another user
        if path.is_relative_to(tmp_path.parent.parent):
            path.chmod(0o755)
    return top


HOLDS: list[tuple[Check, bool]] = [
    (FileExists(path="~/a.txt"), True),
    (FileExists(path="a.txt", kind="file"), True),
    (FileExists(path="~/link", kind="symlink"), True),
    (FileExists(path="~/a.txt", kind="dir"), False),
    (FileExists(path="~/b.txt"), False),
    (FileAbsent(path="~/b.txt"), True),
    (FileAbsent(path="~/link"), False),
    (TextInFile(path="~/a.txt", pattern="^two$"), True),
    (TextInFile(path="~/a.txt", pattern="^two$", negate=True), False),
    (TextInFile(path="~/a.txt", pattern="three", negate=True), True),
    (TextInFile(path="~/b.txt", pattern="x", negate=True), False),
    (FileHash(path="~/a.txt", sha256=sha256(b"one\ntwo\n")), True),
    (FileHash(path="~/a.txt", sha256=sha256(b"")), False),
    (FileMode(path="~/link", mode="0640"), True),
    (FileMode(path="~/a.txt", mode="0600"), False),
    (LinkTarget(path="~/link", target="a.txt"), True),
    (LinkTarget(path="~/a.txt", target="a.txt"), False),
    (ProcessRunning(pattern=r"^no such process \d+$"), False),
    (ProcessRunning(pattern=r"^no such process \d+$", negate=True), True),
    (PortOpen(port=1), False),
    (PortOpen(port=1, negate=True), True),
    (CommandSucceeds(command="test -e a.txt"), True),
    (CommandSucceeds(command="exit 3", exit_code=3), True),
    (CommandSucceeds(command="ls", pattern="^a.txt$"), True),
    (CommandSucceeds(command="ls", pattern="^b.txt$"), False),
    (CommandSucceeds(command="sleep 60", timeout=0.2), False),
    (CommandSucceeds(command="true", cwd="/nowhere"), False),
]


@pytest.mark.parametrize(
    ("check", "holds"), HOLDS, ids=[f"{check.type}-{index}" for index, (check, _) in enumerate(HOLDS)]
)
def test_the_judge_from_outside_agrees_with_the_house(check: Check, holds: bool, home: Path, tmp_path: Path) -> None:
    assert judged([check], home, tmp_path) == ("1\n" if holds else "0\n")


def test_all_checks_must_hold(home: Path, tmp_path: Path) -> None:
    good, bad = FileExists(path="~/a.txt"), FileExists(path="~/b.txt")
    assert judged([good, good], home, tmp_path) == "1\n"
    assert judged([good, bad], home, tmp_path) == "0\n"
    assert judged([bad, good], home, tmp_path) == "0\n"


def test_the_judge_sees_processes_and_ports(home: Path, tmp_path: Path) -> None:
    code = "import socket; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True); input()"
    argv = [sys.executable, "-c", code]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        assert (
            judged([PortOpen(port=port), ProcessRunning(pattern=r"create_server.*getsockname")], home, tmp_path)
            == "1\n"
        )
        server.communicate("\n")
    assert judged([PortOpen(port=port)], home, tmp_path) == "0\n"


def test_solutions_with_answers_answer(tmp_path: Path) -> None:
    from termgym.folders.solve import write_solution

    asking = ActionPlan(
        command='read -p "Name? " name; read -p "Sure? " sure; echo "$name $sure" > ' + str(tmp_path / "said"),
        dialogue=({"expect": "Name", "send": "me\n"}, {"expect": "Sure", "send": "y"}),  # type: ignore[arg-type]
    )
    write_solution((ActionPlan(command="cd /; here=$PWD"), asking), tmp_path / "solution")
    script = (tmp_path / "solution" / "solve.sh").read_text().replace("/solution/", f"{tmp_path}/solution/")
    (tmp_path / "solution" / "solve.sh").write_text(script.replace("cd /home/agent || exit 1\n", ""))
    subprocess.run(
        ["bash", str(tmp_path / "solution" / "solve.sh")], check=True, capture_output=True, env=dict(os.environ)
    )
    assert (tmp_path / "said").read_text() == "me y\n"
