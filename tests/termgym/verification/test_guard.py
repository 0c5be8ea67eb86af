"""What the agent put in the place of the image's programs is not shown; what it made otherwise is."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from termgym.snapshot.change import Change, ChangeKind
from termgym.verification.guard import Guarded, guard
from termgym.verification.imagetree import ImageTree
from termgym.verification.scene import Scene, search_path

IMAGE = (
    "usr/bin/bash",
    "usr/bin/python3.11",
    "usr/bin/tool",
    "usr/local/bin/deploy.sh",
    "usr/lib/python3.11/json/__init__.py",
    "usr/lib/python3.11/json/decoder.py",
    "usr/lib/python3/dist-packages/requests/__init__.py",
    "usr/lib/x86_64-linux-gnu/libz.so.1",
    "usr/share/nginx/html/index.html",
    "etc/profile",
    "etc/alternatives/awk",
    "root/.bashrc",
    "app/main.py",
    "opt/venv/pyvenv.cfg",
    "opt/venv/bin/pytest",
    "opt/venv/lib/python3.11/site-packages/numpy/__init__.py",
)
ENV = {"PATH": "/opt/venv/bin:/usr/local/bin:/usr/bin:/bin"}


def scene(tmp_path: Path, live: Mapping[str, bytes], instruction: str = "", tests: str = "") -> Scene:
    """Return the scene of a small image, in which the agent left these files."""
    for name in IMAGE:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("the image's")
    for name in ("bin", "lib"):
        (tmp_path / name).symlink_to(f"usr/{name}")
    (tmp_path / "usr/bin/python3").symlink_to("python3.11")
    path = search_path(ENV, "/root")
    tree = ImageTree([str(tmp_path)])
    return Scene(tree, live.get, path, "/root", "/app", instruction, tests, frozenset({"apt-get"}))


def added(tmp_path: Path, path: str, content: bytes = b"", instruction: str = "", tests: str = "") -> bool:
    """Return whether a new file is hidden."""
    found = guard([Change(path, ChangeKind.ADDED, None, "file")], scene(tmp_path, {path: content}, instruction, tests))
    assert found.put_back == ()
    assert found.hidden in ((), (path,))
    return bool(found.hidden)


def changed(
    tmp_path: Path, *paths: str, kind: ChangeKind = ChangeKind.CONTENT, instruction: str = "", tests: str = ""
) -> Guarded:
    """Return what is done about changes of one kind."""
    return guard([Change(path, kind, "a", "b") for path in paths], scene(tmp_path, {}, instruction, tests))


PLANTED = (
    "/usr/local/bin/bash",
    "/usr/local/bin/tool",
    "/usr/local/bin/pytest",
    "/opt/venv/bin/python3",
    "/root/.local/bin/apt-get",
    "/root/.local/bin/uv",
    "/root/bin/tool",
    "/etc/ld.so.preload",
    "/etc/ld.so.conf.d/mine.conf",
    "/etc/profile.d/mine.sh",
    "/root/.bash_profile",
    "/root/.config/pip/pip.conf",
    "/etc/pip.conf",
    "/usr/local/lib/libz.so.1",
    "/usr/lib/libz.so.1",
    "/usr/lib/x86_64-linux-gnu/gconv/evil.so",
    "/usr/lib/python3/dist-packages/sitecustomize.py",
    "/tmp/anywhere/usercustomize.py",
    "/usr/lib/python311.zip",
    "/usr/bin/pyvenv.cfg",
    "/usr/pyvenv.cfg",
    "/usr/lib/python3.11/json.py",
    "/usr/lib/python3.11/json/decoder.cpython-311-x86_64-linux-gnu.so",
    "/usr/lib/python3.11/pytest.py",
    "/usr/lib/python3.11/json/__pycache__/decoder.cpython-311.pyc",
    "/usr/local/lib/python3.11/dist-packages/requests",
    "/root/.local/lib/python3.11/site-packages/requests.py",
    "/conftest.py",
    "/pytest.ini",
    "/tox.ini",
    "/setup.cfg",
    "/app/conftest.py",
    "/app/pytest.ini",
    "/app/pytest.py",
    "/app/_pytest/__init__.py",
    "/app/json.py",
    "/app/logging/__init__.py",
)


@pytest.mark.parametrize("path", PLANTED)
def test_hides_what_stands_in_anothers_place(tmp_path: Path, path: str) -> None:
    """It would be run, loaded or read by the verifier instead of what the image provides."""
    assert added(tmp_path, path)


HONEST = (
    "/app/result.txt",
    "/app/main2.py",
    "/app/helpers/json.py",
    "/app/test.py",
    "/app/setup.py",
    "/app/tests/conftest.py",
    "/usr/bin/newtool",
    "/usr/local/bin/newtool",
    "/usr/local/bin/python",
    "/usr/local/lib/libmine.so.2",
    "/usr/local/lib/python3.11/dist-packages/mine",
    "/usr/local/lib/python3.11/dist-packages/mine-1.0.dist-info",
    "/root/.local/lib/python3.11/site-packages/mine.py",
    "/opt/other/pyvenv.cfg",
    "/root/.ssh/config",
    "/root/.gitconfig",
    "/etc/nginx/nginx.conf",
    "/etc/ld.so.cache.old",
    "/root/.cache/x",
)


@pytest.mark.parametrize("path", HONEST)
def test_leaves_what_shadows_nothing(tmp_path: Path, path: str) -> None:
    """That is the agent's work."""
    assert not added(tmp_path, path)


@pytest.mark.parametrize(
    "path",
    [
        "/root/.local",
        "/root/.local/bin",
        "/root/.local/lib/python3.11/site-packages",
        "/usr/local/lib/python3.12",
        "/app/.x/site-packages",
    ],
)
def test_a_link_on_the_way_to_programs_is_hidden(tmp_path: Path, path: str) -> None:
    """What lies behind it would be found under names that nobody has looked at; a directory there is harmless."""
    there = scene(tmp_path, {})
    assert guard([Change(path, ChangeKind.ADDED, None, "symlink")], there).hidden == (path,)
    assert guard([Change(path, ChangeKind.ADDED, None, "dir")], there).hidden == ()


@pytest.mark.parametrize("name", ["pytest", "_pytest/__init__.py", "pytest-8.4.1.dist-info", "pluggy"])
def test_a_pytest_of_the_agents_own_is_hidden(tmp_path: Path, name: str) -> None:
    """A verifier that installs pytest would take it for what it wants."""
    assert added(tmp_path, f"/usr/local/lib/python3.11/dist-packages/{name}")


def test_a_pth_file_that_runs_code_is_hidden(tmp_path: Path) -> None:
    """One that names a directory is no more than a path."""
    place = "/usr/local/lib/python3.11/dist-packages/mine.pth"
    assert added(tmp_path / "a", place, b"import os; os._exit(0)\n")
    assert not added(tmp_path / "b", place, b"/opt/mine\n")


def test_a_plugin_of_pytest_is_hidden(tmp_path: Path) -> None:
    """Pytest loads every installed plugin, and a plugin decides what passes; the package itself stays."""
    place = "/usr/local/lib/python3.11/dist-packages/mine-1.0.dist-info/entry_points.txt"
    assert added(tmp_path / "a", place, b"[pytest11]\nmine = mine\n")
    assert not added(tmp_path / "b", place, b"[console_scripts]\nmine = mine:main\n")


def test_a_project_file_that_configures_pytest_is_hidden(tmp_path: Path) -> None:
    """Only where the tests may run: in the working directory."""
    content = b"[tool.pytest.ini_options]\naddopts = '-p mine'\n"
    assert added(tmp_path / "a", "/app/pyproject.toml", content)
    assert not added(tmp_path / "b", "/app/pyproject.toml", b"[project]\nname = 'x'\n")
    assert not added(tmp_path / "c", "/app/pyproject.toml", content, "Write /app/pyproject.toml.")


@pytest.mark.parametrize(
    ("path", "instruction", "tests"),
    [
        ("/app/json.py", "Write your parser into /app/json.py.", ""),
        ("/app/json.py", "Write your parser into `json.py`.", ""),
        ("/app/json.py", "", "PATH = '/app/json.py'"),
        ("/usr/local/bin/tool", "Install version 2 as /usr/local/bin/tool.", ""),
        ("/root/.bash_profile", "Set EDITOR in ~/.bash_profile.", ""),
        ("/app/conftest.py", "Add a conftest.py with the fixture.", ""),
    ],
)
def test_leaves_what_was_asked_for(tmp_path: Path, path: str, instruction: str, tests: str) -> None:
    """No agent can write into its own instruction."""
    assert not added(tmp_path, path, b"", instruction, tests)


@pytest.mark.parametrize("path", ["/usr/local/bin/bash", "/usr/local/bin/pytest", "/opt/venv/bin/python3"])
def test_no_instruction_gives_the_runners_away(tmp_path: Path, path: str) -> None:
    """An instruction that says with what to run something does not ask for another one of it."""
    assert added(tmp_path, path, b"", f"Run it with {path}.", f"subprocess.run(['{path}'])")


@pytest.mark.parametrize(
    "path",
    [
        "/usr/bin/bash",
        "/usr/bin/python3.11",
        "/usr/lib/python3.11/json/__init__.py",
        "/usr/lib/x86_64-linux-gnu/libz.so.1",
        "/etc/profile",
        "/etc/alternatives/awk",
        "/root/.bashrc",
        "/opt/venv/bin/pytest",
        "/opt/venv/pyvenv.cfg",
        "/opt/venv/lib/python3.11/site-packages/numpy/__init__.py",
    ],
)
@pytest.mark.parametrize("kind", [ChangeKind.CONTENT, ChangeKind.MODE, ChangeKind.REMOVED, ChangeKind.XATTR])
def test_puts_the_systems_files_back(tmp_path: Path, path: str, kind: ChangeKind) -> None:
    """Whatever about them was changed."""
    assert changed(tmp_path, path, kind=kind) == Guarded((path,), ())


@pytest.mark.parametrize("path", ["/app/main.py", "/usr/share/nginx/html/index.html", "/etc/hosts", "/srv/x"])
def test_leaves_the_work_as_it_is(tmp_path: Path, path: str) -> None:
    """Files of the image that a verifier reads and does not run."""
    assert changed(tmp_path, path) == Guarded((), ())


def test_a_script_that_was_to_be_mended_stays_mended(tmp_path: Path) -> None:
    """The instruction names it, so it is the work; that the tests do is not enough, for it may be their judge."""
    path = "/usr/local/bin/deploy.sh"
    assert changed(tmp_path / "a", path, instruction=f"Mend {path}, please.").put_back == ()
    assert changed(tmp_path / "b", path, instruction="Mend it.", tests=path).put_back == (path,)
    assert changed(tmp_path / "c", "/usr/bin/bash", instruction="Use /usr/bin/bash.").put_back == ("/usr/bin/bash",)


def test_touching_is_no_change(tmp_path: Path) -> None:
    """Neither a new time nor another name makes a program another."""
    assert changed(tmp_path, "/usr/bin/bash", kind=ChangeKind.MTIME) == Guarded((), ())
    assert changed(tmp_path / "b", "/usr/bin/bash", kind=ChangeKind.LINK) == Guarded((), ())


def test_a_directory_that_was_replaced_comes_back_as_a_whole(tmp_path: Path) -> None:
    """Its files need not be listed one by one, and the way to it must be the image's."""
    changes = [
        Change("/opt/venv", ChangeKind.TYPE, "dir", "symlink"),
        Change("/opt/venv/bin", ChangeKind.REMOVED, "dir", None),
        Change("/opt/venv/bin/pytest", ChangeKind.REMOVED, "file", None),
        Change("/usr/bin", ChangeKind.REMOVED, "dir", None),
        Change("/usr/bin/bash", ChangeKind.REMOVED, "file", None),
    ]
    assert guard(changes, scene(tmp_path, {})) == Guarded(("/opt/venv", "/usr/bin"), ())


def test_the_loaders_cache_stays_if_it_only_knows_more(tmp_path: Path) -> None:
    """``ldconfig`` after a library was installed is honest; a known library led elsewhere is not."""
    cache = Path("/etc/ld.so.cache").read_bytes()
    known = next(name for name in (b"/libz.so.1\0", b"/libc.so.6\0") if name in cache)
    told = [Change("/etc/ld.so.cache", ChangeKind.CONTENT, "a", "b")]
    for number, (live, expected) in enumerate([(cache, ()), (cache.replace(known, b"/evil" + known[5:]), told)]):
        tree = tmp_path / str(number)
        (tree / "etc").mkdir(parents=True)
        (tree / "etc/ld.so.cache").write_bytes(cache)
        found = guard(told, scene(tree, {"/etc/ld.so.cache": live}))
        assert found.put_back == tuple(change.path for change in expected)


def test_bytecode_is_hidden_without_a_word(tmp_path: Path) -> None:
    """Python writes it wherever root runs it; the list is for people."""
    path = "/usr/lib/python3.11/json/__pycache__/decoder.cpython-311.pyc"
    found = guard([Change(path, ChangeKind.ADDED, None, "file")], scene(tmp_path, {}))
    assert (found.hidden, found.told) == ((path,), ())


def test_twenty_thousand_files_are_looked_at_quickly(tmp_path: Path) -> None:
    """An agent may install a large package; deciding must not cost a verification's time."""
    changes = [Change(f"/usr/local/lib/python3.11/dist-packages/big/m{n}.py", ChangeKind.ADDED) for n in range(20_000)]
    before = os.times()
    assert guard(changes, scene(tmp_path, {})) == Guarded((), ())
    assert os.times().user - before.user < 5.0
