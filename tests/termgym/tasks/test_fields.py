"""A mistake in a task fails where it is written down, with what to do about it."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import termgym
from termgym.checks import FileExists, OutputContains
from termgym.errors import TaskError
from termgym.plan import ActionPlan
from termgym.sandbox.environment import WRITABLE_ROOTS
from termgym.tasks import HOME, FileSpec, Limits, Service, Task, causes, families, make_task

CHECK = FileExists(path=f"{HOME}/x")


def a_file(**fields: Any) -> FileSpec:
    return FileSpec(**{"path": f"{HOME}/x", **fields})


def a_task(**fields: Any) -> Task:
    return Task(**{"id": "t", "instruction": "Do it.", **fields})


def a_service(**fields: Any) -> Service:
    return Service(**{"argv": ("true",), **fields})


@pytest.mark.parametrize(
    ("make", "fields", "message"),
    [
        (a_file, {"content": "text"}, r"FileSpec '/home/agent/x': content='text' is of type str; give bytes"),
        (a_file, {"content": None}, "content=None is of type NoneType; give bytes"),
        (a_file, {"mode": "755"}, "mode='755' is no permission bits; give an int from 0 to 0o7777"),
        (a_file, {"mode": 755}, r"mode=755 is the decimal number for 0o1363; did you mean 0o755\?"),
        (a_file, {"mode": 644}, r"did you mean 0o644\?"),
        (a_file, {"mode": True}, "mode=True is no permission bits"),
        (a_file, {"mode": -1}, "mode=-1 is no permission bits"),
        (a_file, {"mode": 0o10000}, "mode=4096 is no permission bits"),
        (a_file, {"kind": "link"}, "kind='link' is unknown; allowed are file, dir, symlink"),
        (a_file, {"kind": "symlink"}, "content=b'' is no target of a symlink"),
        (a_file, {"kind": "dir", "content": b"x"}, "content=b'x' is for files and symlinks"),
        (a_file, {"path": "x"}, "path='x' lies outside what a task may write; give an absolute path under /home, "),
        (a_file, {"path": "~/x"}, "path='~/x' lies outside"),
        (a_file, {"path": "/etc/passwd"}, "lies outside what a task may write"),
        (a_file, {"path": "/home/agent/../../etc/x"}, "lies outside what a task may write"),
        (a_file, {"path": "/home"}, "lies outside what a task may write"),
        (a_file, {"path": "/tmp/a\0b"}, "holds a NUL"),
        (a_file, {"path": b"/tmp/x"}, "path=b'/tmp/x' is of type bytes; give a str"),
        (a_service, {"argv": "sleep 1"}, "argv='sleep 1' is of type str; give a tuple or a list"),
        (a_service, {"argv": ()}, r"argv=\(\) names no program"),
        (a_service, {"argv": ("sleep", 1)}, r"argv\[1\]=1 is of type int; give a str"),
        (a_service, {"ready_port": 0}, "ready_port=0 is not allowed; give a whole number from 1 to 65535"),
        (a_service, {"ready_port": 65_536}, "ready_port=65536 is not allowed"),
        (a_service, {"ready_port": "80"}, "ready_port='80' is not allowed"),
        (a_service, {"ready_path": "x"}, "ready_path='x' is not an absolute path"),
        (a_service, {"cwd": "x"}, "cwd='x' is not an absolute path"),
        (Limits, {"memory_bytes": -1}, "memory_bytes=-1 is not allowed; give a whole number from 1"),
        (Limits, {"processes": 1.5}, "processes=1.5 is not allowed"),
        (Limits, {"disk_bytes": 0}, "disk_bytes=0 is not allowed"),
        (Limits, {"cpu_cores": -0.5}, "cpu_cores=-0.5 is not allowed; give a number from 0.01"),
        (Limits, {"cpu_cores": float("nan")}, "cpu_cores=nan is not allowed"),
        (a_task, {"id": ""}, "id='' is empty"),
        (a_task, {"id": 7}, "id=7 is of type int; give a str"),
        (a_task, {"instruction": None}, "instruction=None is of type NoneType; give a str"),
        (a_task, {"setup": ["touch x"]}, "setup=.* is of type list; give a str"),
        (a_task, {"tree": 3}, "tree=3 is of type int"),
        (a_task, {"tree": "/nowhere"}, "tree='/nowhere' is no directory on this host"),
        (a_task, {"goal": CHECK}, r"goal=.* is of type FileExists; give a tuple or a list; .* has a comma: \(x,\)"),
        (a_task, {"goal": "x"}, "goal='x' is of type str"),
        (a_task, {"goal": {"type": "file_exists"}}, "goal=.* is of type dict"),
        (a_task, {"goal": [{"type": "file_exists"}]}, r"goal\[0\]=.* is no check: file_exists: path: Field required"),
        (a_task, {"goal": [CHECK, {"type": "file"}]}, r"goal\[1\]=.* is no check: .*'file_exists'"),
        (a_task, {"goal": ["~/x"]}, r"goal\[0\]='~/x' is no check; give one of termgym.checks \(FileExists, "),
        (a_task, {"goal": [OutputContains(pattern="x")]}, r"goal\[0\]=.* looks at a step's output; a goal has no step"),
        (a_task, {"goal": [{"type": "output", "pattern": "x"}]}, r"goal\[0\]=.* looks at a step's output"),
        (a_task, {"files": {"x": b""}}, "files=.* is of type dict; give a tuple or a list"),
        (a_task, {"files": ["/home/agent/x"]}, r"files\[0\]='/home/agent/x' is of type str; give a FileSpec"),
        (a_task, {"services": [("true",)]}, r"services\[0\]=.* is of type tuple; give a Service"),
        (a_task, {"allowed": "/tmp/**"}, "allowed='/tmp/.*' is of type str; give a tuple or a list"),
        (a_task, {"allowed": [Path("/tmp")]}, r"allowed\[0\]=.*/tmp.* is of type PosixPath; give a str"),
        (a_task, {"allowed": ["~/x"]}, r"allowed\[0\]='~/x' can match no path, .* such as '/home/agent/x'"),
        (a_task, {"read_only": ["/etc"]}, r"read_only\[0\]='/etc' lies outside"),
        (a_task, {"read_only": [1]}, r"read_only\[0\]=1 is of type int"),
        (a_task, {"required_env": {"A": 1}}, r"required_env\['A'\]=1 is of type int; give a str"),
        (a_task, {"required_env": ["A"]}, "required_env=.* is of type list; give a mapping of name to value"),
        (a_task, {"limits": {"processes": 3}}, "limits=.* is of type dict; give a Limits"),
        (a_task, {"oracle": "touch x"}, "oracle='touch x' is of type str; give a tuple or a list"),
        (a_task, {"oracle": ["touch x"]}, r"oracle\[0\]='touch x' is no plan: .*write it with termgym.plan"),
        (a_task, {"oracle": [3]}, r"oracle\[0\]=3 is no plan; give an ActionPlan"),
        (a_task, {"symptom": [{"cmd": "x"}]}, r"symptom\[0\]=.* is no plan: command: Field required"),
        (a_task, {"max_steps": 0}, "max_steps=0 is not allowed; give a whole number from 1"),
        (a_task, {"seed": -1}, "seed=-1 is not allowed; give a whole number from 0"),
        (a_task, {"tags": "git"}, "tags='git' is of type str"),
    ],
)
def test_a_mistake_is_refused_with_what_to_do(
    make: Callable[..., object], fields: dict[str, object], message: str
) -> None:
    """Somebody who writes a first task makes each of these once; none may wait for the sandbox to stumble over it."""
    with pytest.raises(TaskError, match=message):
        make(**fields)


def test_a_decimal_mode_is_refused_for_what_it_would_have_been() -> None:
    """The reason for the rule: 755 without its prefix is a file that its owner cannot read."""
    assert stat.filemode(stat.S_IFREG | 755) == "--wxrw--wt"
    assert [a_file(mode=mode).mode for mode in (0, 0o600, 0o755, 0o1777, 0o7777)] == [0, 0o600, 0o755, 0o1777, 0o7777]


def test_every_writable_root_may_hold_files() -> None:
    """The rule is that of the machine which lays the files out."""
    assert all(a_file(path=f"/{root}/x").path for root in WRITABLE_ROOTS)


def test_lists_mappings_and_texts_become_what_the_field_promises() -> None:
    """A list is as good as a tuple to who writes it, and a check or plan may be told as JSON tells it."""
    told = a_task(
        goal=[{"type": "file_exists", "path": f"{HOME}/x"}, CHECK],
        files=[a_file()],
        services=[a_service(argv=["sleep", "9"])],
        read_only=[f"{HOME}/x"],
        allowed=["/tmp/**"],
        oracle=[termgym.plan("touch x"), {"command": "touch x"}, ActionPlan(command="touch x")],
        symptom=[termgym.plan("cat x", expected_exit_code=1)],
        tags=["first"],
        tree=Path("/srv"),
    )
    assert told == a_task(
        goal=(CHECK, CHECK),
        files=(a_file(),),
        services=(Service(("sleep", "9")),),
        read_only=(f"{HOME}/x",),
        allowed=("/tmp/**",),
        oracle=(ActionPlan(command="touch x"),) * 3,
        symptom=(ActionPlan(command="cat x", expected_exit_code=1),),
        tags=("first",),
        tree=os.fspath(Path("/srv")),
    )


def test_a_tree_is_found_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that copies it has another working directory."""
    (tmp_path / "tree").mkdir()
    monkeypatch.chdir(tmp_path)
    assert a_task(tree="tree").tree == str(tmp_path / "tree")


def test_a_task_can_be_hashed() -> None:
    """Tasks are keys of what is counted a task."""
    assert len({a_task(files=[a_file()], required_env={"A": "*"}), a_task(files=(a_file(),))}) == 2
    assert len({make_task(name, 3) for name in families()}) == len(families())


def test_what_was_given_can_change_and_the_task_stays() -> None:
    """A task that is written down is a constant."""
    files, wanted = [a_file()], {"A": "*"}
    task = a_task(files=files, required_env=wanted)
    files.clear()
    wanted.clear()
    assert (len(task.files), task.required_env) == (1, {"A": "*"})


def test_looking_at_the_fields_is_cheap() -> None:
    """A task is made at each reset; what its fields cost must vanish beside making it, some 1000 us."""
    tasks = [make_task(f"{family}/{cause}", 1) for family in families() for cause in causes(family)]

    def look() -> float:
        began = time.process_time()
        for task in tasks:
            task.__post_init__()
            for file in task.files:
                file.__post_init__()
        return (time.process_time() - began) / len(tasks)

    assert min(look() for _ in range(20)) < 100e-6  # [s]
