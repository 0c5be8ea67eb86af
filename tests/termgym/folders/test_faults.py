from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from rolf.cache import VARIABLE, cache_directory
from termgym.errors import FolderError, TaskError
from termgym.folders import find_folders, read_folder

Change = Callable[..., Path]

TOML = {
    "broken": ('schema_version = "1.4"\n[environment\ncpus = 1\n', "line 2: is no TOML: "),
    "bom": (b'\xef\xbb\xbfschema_version = "9"\n', r"line 1: schema_version='9' \(line 1\): allowed are 1.0, 1.1"),
    "bytes": (b'schema_version = "1.4"\n[metadata]\nname = "\xff"\n', r"line 3: byte b'\\xff' is no UTF-8"),
    "version": ('\nversion = "2.0"\n', "schema_version='2.0'.*allowed are 1.0, 1.1, 1.2, 1.3, 1.4"),
    "number": ("[verifier]\n\ntimeout_sec = 'soon'\n", r"line 3: verifier.timeout_sec='soon' \(line 3\): should be a"),
    "negative": ("[environment]\ncpus = -1\n", r"environment.cpus=-1 \(line 2\): should be greater than 0"),
    "choice": ("[environment]\nnetwork_mode = 'open'\n", "network_mode='open'.*'no-network', 'public' or 'allowlist'"),
    "size": ("[environment]\nmemory = '2 parsecs'\n", "memory='2 parsecs'.*allowed is a number with G, M or K"),
    "sizes": (
        "[environment]\nmemory = '2G'\nmemory_mb = 512\n",
        "memory='2G' and memory_mb=512 differ; keep memory_mb",
    ),
    "windows": ("[environment]\nos = 'Windows'\n", "line 2: environment.os='windows' is not supported; allowed is"),
    "workdir": ("[environment]\nworkdir = 'app'\n", r"environment.workdir='app' \(line 2\): string should match"),
    "name": ("[task]\nname = 'hello'\n", r"task.name='hello' \(line 2\)"),
    "missing": ("[task]\nversion = '1'\n", "line 1: task.name is missing"),
    "table": ("environment = 3\n", "environment=3"),
    "env": ("[verifier.env]\nN = 3\n", r"verifier.env.N=3 \(line 2\): .* string"),
    "step": (
        "[[steps]]\nname = '../up'\n",
        r"steps\[0\].name='../up' \(line 2\): a step's name is the name of its dir",
    ),
    "twice": ("[[steps]]\nname = 'A'\n[[steps]]\nname = 'a'\n", "step 'a' is there twice"),
    "no-step": ("[[steps]]\nname = 'one'\n", "steps/one: is missing, though task.toml names the step 'one'"),
    "second": (
        "[[steps]]\nname = 'a'\n[[steps]]\nname = 'b'\nmin_reward = 'x'\n",
        r"line 5: steps\[1\].min_reward='x' \(line 5\)",
    ),
    "strategy": ("multi_step_reward_strategy = 'max'\n", "multi_step_reward_strategy='max'.*'mean' or 'final'"),
    "modes": (
        "[verifier]\nenvironment_mode = 'shared'\n[verifier.environment]\ncpus = 1\n",
        "environment_mode='shared' does not go with",
    ),
    "own-image": ("[verifier.environment]\ndocker_image = 'x'\n", "line 1: the verifier brings a container of its own"),
    "in-a-text": (
        '[metadata]\nnote = """\n[environment]\ncpus = 1\n"""\n[environment]\ncpus = -1\n',
        r"line 7: environment.cpus=-1 \(line 7\)",
    ),
    "house": (
        "[metadata.rolf]\nmax_steps = 0\n",
        r"line 2: max_steps=0 \(line 2\): should be greater than or equal to 1",
    ),
    "house-table": ("[metadata]\nrolf = 3\n", "line 2: "),
}


@pytest.mark.parametrize("name", TOML)
def test_a_wrong_task_toml_is_named_with_line_value_and_what_is_allowed(name: str, altered: Change) -> None:
    content, said = TOML[name]
    path = altered("harbor-minimal", task_DOT_toml=content)
    with pytest.raises(FolderError, match=said) as caught:
        read_folder(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


YAML = {
    "broken": ("instruction: |-\n  x\n difficulty: easy\n", "task.yaml, line 3: is no YAML"),
    "empty": ("", "task.yaml: is empty; write `name: value` lines"),
    "list": ("- instruction\n", "task.yaml: is no mapping of names to values"),
    "difficulty": (
        "instruction: x\ndifficulty: extreme\n",
        r"line 2: difficulty='extreme' \(line 2\): .*'medium', 'hard'",
    ),
    "parser": (
        "instruction: x\nparser_name: swebench\n",
        r"line 2: parser_name='swebench' \(line 2\): allowed is 'pytest'",
    ),
    "instruction": ("difficulty: easy\n", "instruction is missing"),
    "blank": ("instruction: '  '\n", "line 1: instruction is empty"),
    "timeout": ("instruction: x\nmax_test_timeout_sec: .nan\n", "max_test_timeout_sec=nan"),
    "circle": ("instruction: &a [*a]\n", "instruction="),
    "object": ("instruction: !!python/object/apply:os.system [id]\n", "line 1: is no YAML"),
}


@pytest.mark.parametrize("name", YAML)
def test_a_wrong_task_yaml_is_named_with_line_value_and_what_is_allowed(name: str, altered: Change) -> None:
    content, said = YAML[name]
    with pytest.raises(FolderError, match=said):
        read_folder(altered("bench-usual", task_DOT_yaml=content))


COMPOSE = {
    "several": (
        "services:\n  client: {build: .}\n  db: {image: postgres}\n",
        r"has 2 services \(client, db\); one is supp",
    ),
    "none": ("version: '3'\n", "has no services"),
    "empty": ("services:\n  client:\n", "line 2: service 'client' is None; write its build or image below it"),
    "mount": ("services:\n  client:\n    build: .\n    volumes: ['./data:/data']\n", "mounts the folder's files; COPY"),
    "memory": ("services:\n  client: {build: ., mem_limit: lots}\n", "memory='lots' is no size"),
    "cores": ("services:\n  client: {build: ., cpus: many}\n", "cpus='many' is no number"),
    "variables": ("services:\n  client: {build: ., environment: 3}\n", "3 are no variables; write NAME=value"),
    "build": ("services:\n  client: {build: [1]}\n", "is neither a directory nor a mapping"),
    "outside": ("services:\n  client: {build: ../..}\n", "leads out of the task folder"),
    "nowhere": ("services:\n  client: {build: ./image}\n", "leads to nothing"),
}


@pytest.mark.parametrize("name", COMPOSE)
def test_a_compose_file_that_is_not_supported_says_why(name: str, altered: Change) -> None:
    content, said = COMPOSE[name]
    with pytest.raises(FolderError, match=said):
        read_folder(altered("bench-usual", docker_DASH_compose_DOT_yaml=content))


FILES = [
    ("harbor-minimal", {"instruction_DOT_md": None}, "instruction.md: is missing; a task folder needs it"),
    ("harbor-minimal", {"instruction_DOT_md": " \n"}, "instruction.md: is empty; say what the agent is to do"),
    ("harbor-minimal", {"instruction_DOT_md": "<!-- canary -->\n"}, "instruction.md: is empty"),
    ("harbor-minimal", {"instruction_DOT_md": b"a\nb\x80\n"}, "instruction.md, line 2: byte .* is no UTF-8"),
    ("harbor-minimal", {"tests__test_DOT_sh": None}, "has no tests/test.sh; the script must be there"),
    ("harbor-minimal", {"tests__test_DOT_sh": None, "tests__test_DOT_bat": "x"}, "test.bat is for Windows"),
    (
        "harbor-minimal",
        {"tests__test_DOT_sh": "#!/bin/sh\necho\r\n"},
        "test.sh, line 2: ends with CR LF.*`dos2unix test.sh`",
    ),
    (
        "harbor-minimal",
        {"solution__solve_DOT_sh": b"\xef\xbb\xbf#!/bin/sh\n"},
        "solve.sh, line 1: begins with a byte-order",
    ),
    ("harbor-minimal", {"tests___DOT_harborignore": "*.sh\n"}, "has no tests/test.sh; .* not be ignored"),
    (
        "harbor-minimal",
        {"environment__Dockerfile": None},
        "has no environment/Dockerfile, and task.toml no docker_image",
    ),
    ("harbor-steps", {"steps__01-first__instruction_DOT_md": None}, "steps/01-first/instruction.md: is missing"),
    ("harbor-steps", {"steps__01-first__tests__test_DOT_sh": None}, "has no steps/01-first/tests/test.sh"),
    ("bench-usual", {"run_DASH_tests_DOT_sh": None}, "run-tests.sh: is missing; it runs the tests"),
    ("bench-usual", {"Dockerfile": None}, "Dockerfile: leads to nothing"),
    ("bench-dockerfile", {"Dockerfile": None}, "has neither a Dockerfile nor a docker-compose.yaml"),
    ("bench-commands", {"solution_DOT_yaml": "command: ls\n"}, "is no list of commands"),
    ("bench-commands", {"solution_DOT_yaml": "- command: ls\n- block: 1\n"}, "line 2: command is missing"),
]


@pytest.mark.parametrize(("name", "files", "said"), FILES)
def test_a_file_that_is_missing_or_broken_is_named(
    name: str, files: dict[str, str | bytes | None], said: str, altered: Change
) -> None:
    with pytest.raises(FolderError, match=said):
        read_folder(altered(name, **files))


def test_a_folder_that_is_none_says_what_one_is(tmp_path: Path, altered: Change) -> None:
    with pytest.raises(FolderError, match=r"is not there; give a directory with a task.toml or a task.yaml"):
        read_folder(tmp_path / "nowhere")
    (tmp_path / "file").touch()
    with pytest.raises(FolderError, match="is no directory"):
        read_folder(tmp_path / "file")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FolderError, match=r"has neither a task.toml \(Harbor\) nor a task.yaml"):
        read_folder(tmp_path / "empty")
    with pytest.raises(FolderError, match="is not there; give a directory of task folders"):
        find_folders(tmp_path / "nowhere")
    altered("harbor-minimal")
    with pytest.raises(FolderError, match="1 task folders lie below it: give one of them, or tasks="):
        read_folder(tmp_path)


@pytest.mark.parametrize("link", ["tests/out.txt", "solution/out.txt", "instruction.md", "task.toml", "environment"])
def test_a_link_out_of_the_folder_is_refused(link: str, altered: Change, tmp_path: Path) -> None:
    path = altered("harbor-minimal", instruction_DOT_md=None, task_DOT_toml='schema_version = "1.4"\n')
    (path / "instruction.md").write_text("Do it.\n")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "Dockerfile").write_text("FROM x\n")
    target = path / link
    if target.is_dir():
        (target / "Dockerfile").unlink()
        target.rmdir()
    target.unlink(missing_ok=True)
    target.symlink_to(outside if link == "environment" else "/etc/passwd")
    with pytest.raises(FolderError, match=f"{link}: leads out of the task folder"):
        read_folder(path)


def test_links_to_nowhere_and_in_circles_are_refused(altered: Change) -> None:
    path = altered("harbor-minimal")
    (path / "tests" / "gone").symlink_to("nothing")
    with pytest.raises(FolderError, match="tests/gone: leads to nothing"):
        read_folder(path)
    (path / "tests" / "gone").unlink()
    (path / "tests" / "self").symlink_to("self")
    with pytest.raises(FolderError, match="tests/self: cannot be followed"):
        read_folder(path)
    (path / "tests" / "self").unlink()
    (path / "tests" / "round").symlink_to(path / "tests")
    with pytest.raises(FolderError, match="tests/round: leads in a circle"):
        read_folder(path)


def test_pipes_sockets_and_devices_are_no_part_of_a_task(altered: Change) -> None:
    path = altered("harbor-minimal")
    os.mkfifo(path / "environment" / "pipe")
    with pytest.raises(FolderError, match="environment/pipe: is a pipe; allowed are files, directories"):
        read_folder(path)
    (path / "environment" / "pipe").unlink()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(path / "tests" / "socket"))
        with pytest.raises(FolderError, match="tests/socket: is a socket"):
            read_folder(path)


def test_a_huge_context_is_used_where_it_lies_and_a_huge_instruction_refused(altered: Change) -> None:
    path = altered("harbor-minimal")
    with (path / "environment" / "big").open("wb") as file:
        file.truncate(5 << 30)
    found = read_folder(path)
    assert found.task.image is not None
    assert found.task.image.context == str(path / "environment")
    assert "environment/ holds 5120 MiB and is used where it lies" in found.notes[0]
    with (path / "instruction.md").open("wb") as file:
        file.truncate(1 << 30)
    with pytest.raises(FolderError, match=r"instruction.md: has 1073741824 bytes; at most 16777216"):
        read_folder(path)


def test_a_folder_that_is_refused_leaves_nothing_behind(
    altered: Change, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    path = altered("harbor-minimal", task_DOT_toml="[environment]\nos = 'windows'\n")
    with pytest.raises(FolderError):
        read_folder(path)
    assert list(cache_directory("folders").iterdir()) == []


def test_its_error_is_a_tasks(altered: Change) -> None:
    assert issubclass(FolderError, TaskError)
    with pytest.raises(ValueError, match="CR LF"):
        read_folder(altered("bench-usual", solution_DOT_sh="ls\r\n"))


def test_a_copy_that_was_killed_is_removed_by_the_next(
    folder: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    old, new = cache_directory("folders", ".making-old"), cache_directory("folders", ".making-new")
    (old / "file").touch()
    os.utime(old, (0, 0))
    read_folder(folder("harbor-minimal"))
    assert (old.exists(), new.exists()) == (False, True)


def test_a_cache_that_cannot_be_written_is_named(
    folder: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(VARIABLE, str(tmp_path / "file" / "cache"))
    with pytest.raises(
        FolderError, match="file/cache: Not a directory; let your user read the folder and write the cache"
    ):
        read_folder(folder("harbor-minimal"))
