"""What shell_commands() promises: nothing escapes, all ends, little is written, and the same again does the same."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from rolf.strategies import file_names, shell_commands
from rolf.strategies.shell.words import LITERAL_WORDS, QUOTINGS, literals

GENERATED = settings(
    phases=[Phase.generate], deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
SEARCH = settings(derandomize=True, database=None, max_examples=5_000)
"""For what is rare: drawn anew each time, one search in many would find none."""
MOST_SECONDS = 10.0
"""Of one command on a machine that does ten other things."""
MOST_BYTES = 64 << 10

WANTED = [
    *(
        "| sort",
        ">> ",
        "<<< ",
        "<< 'EOF'",
        "$'",
        "\\ ",
        "for i",
        "while [",
        "until [",
        "for ((",
        "case ",
        "if ",
        "() {",
    ),
    *("( cd ", "exec 3>", "trap ", "& wait", "kill -", "exit ", "set -e", "$((", "${v0", "mkdir ", "rm -rf", "ln -s"),
    *("chmod", "mv -f", "read -r", "unset", "export", "printf", "<(", "`", "&&", "||", "list=(", "eval", "set --"),
]
"""What is there among some hundred commands."""

JAIL = r"""
import ctypes, json, os, pathlib, shutil, signal, subprocess, sys, time

def mount(kind, at, *options):
    subprocess.run(["mount", "-t", kind, *options, kind, at], check=True)

# A copy of the whole system in which every write can be found afterwards; and only this namespace sees it.
base = pathlib.Path(sys.argv[1])
mount("tmpfs", base)
for name in ("upper", "work", "merged"):
    (base / name).mkdir()
merged = base / "merged"
layers = f"lowerdir=/,upperdir={base}/upper,workdir={base}/work"
mount("overlay", merged, "-o", layers)
for name in ("dev", "proc"):
    subprocess.run(["mount", "--rbind", f"/{name}", merged / name], check=True)

jail = merged / "srv" / "jail"
(jail / "beside").mkdir(parents=True)
(jail / "beside" / "a").write_text("not yours")
canary = subprocess.Popen(["sleep", "1000"])

def outside():
    found = {}
    for directory, names, files in os.walk(base / "upper"):
        if pathlib.Path(directory) == base / "upper" / "srv" / "jail":
            names.remove("place")
        for path in (os.path.join(directory, name) for name in names + files):
            status = os.lstat(path)
            size = status.st_size if os.path.isfile(path) else 0
            found[path] = [status.st_mode, size, status.st_mtime_ns if os.path.isfile(path) else 0]
    return found

def inside():
    found = {}
    for directory, names, files in os.walk(jail / "place"):
        for path in (os.path.join(directory, name) for name in names + files):
            status = os.lstat(path)
            told = os.readlink(path) if os.path.islink(path) else None
            if os.path.isfile(path) and told is None:
                told = pathlib.Path(path).read_bytes().decode("utf-8", "surrogateescape")
            found[os.path.relpath(path, jail)] = [status.st_mode, status.st_nlink, told]
    return found

def strangers():
    # The other end of `<(...)` may outlive its shell by a moment; this process, the first of its namespace, adopts it
    # then and has to collect it.
    end = time.monotonic() + 2
    while (left := [each for each in map(int, filter(str.isdigit, os.listdir("/proc"))) if not known(each)]):
        if time.monotonic() > end:
            return left
        time.sleep(0.01)
    return []

def known(pid):
    if pid in (os.getpid(), canary.pid, 1):
        return True
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return not os.path.exists(f"/proc/{pid}")

def tell(command):
    began = time.monotonic()
    try:
        done = subprocess.run(
            [chroot, merged, "/bin/bash", "-c", "cd /srv/jail/place && eval \"$1\"", "bash", command],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/srv/jail/beside"},
        )
    except subprocess.TimeoutExpired:
        return {"ended": False}
    return {
        "ended": True, "seconds": time.monotonic() - began, "strangers": strangers(), "code": done.returncode,
        "stdout": done.stdout.decode("utf-8", "surrogateescape"),
        "stderr": done.stderr.decode("utf-8", "surrogateescape"),
    }

chroot = shutil.which("chroot", path="/usr/sbin:/sbin:/usr/bin:/bin")
commands, rounds = json.load(sys.stdin), []
for _ in range(2):
    (jail / "place").mkdir()
    before = outside()
    told = [tell(command) for command in commands]
    rounds.append({"told": told, "before": before, "outside": outside(), "inside": inside()})
    shutil.rmtree(jail / "place")
alive = canary.poll() is None
canary.kill()
json.dump({"rounds": rounds, "canary": alive}, sys.stdout)
"""
"""Runs commands, one shell each, one after the other in one directory, twice; tells all that came of it."""


def in_a_jail(commands: list[str]) -> dict[str, Any]:
    """Return what commands do in a system of their own, twice.

    That wants root: the kernel overlays no `/` for others, whose mounts are locked.
    """
    with tempfile.TemporaryDirectory() as base:  # what is mounted there goes with the namespace
        done = subprocess.run(
            ["unshare", "--mount", "--pid", "--fork", "--mount-proc", sys.executable, "-c", JAIL, base],
            input=json.dumps(commands),
            capture_output=True,
            text=True,
            errors="surrogateescape",
            timeout=3600,
        )
    assert done.returncode == 0, done.stderr[-2000:]
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def drawn(count: int, **arguments: Any) -> list[str]:
    """Return generated commands."""
    commands: list[str] = []

    @settings(GENERATED, max_examples=count)
    @given(shell_commands(**arguments))
    def draw(command: str) -> None:
        commands.append(command)

    draw()
    return commands


def broken_promises(commands: list[str], most_seconds: float = MOST_SECONDS) -> Iterator[str]:
    """Run commands twice in a jail, and yield what they did that they must not."""
    told = in_a_jail(commands)
    if not told["canary"]:
        yield "a process that was no command's own was killed"
    one, other = told["rounds"]
    for command, first, again in zip(commands, one["told"], other["told"], strict=True):
        if not (first["ended"] and again["ended"]):
            yield f"{command!r} does not end"
            continue
        kept = {
            "leaves processes behind": first["strangers"] == [],
            f"takes {first['seconds']} s": first["seconds"] < most_seconds,
            f"is no bash: {first['stderr']!r}": not re.search("syntax error|unexpected", first["stderr"]),
            "says too much": len(first["stdout"]) + len(first["stderr"]) < MOST_BYTES,
            "does something else when it is done again": all(
                first[name] == again[name] for name in ("code", "stdout", "stderr")
            ),
        }
        yield from (f"{command!r} {what}" for what, holds in kept.items() if not holds)
    if any(each["outside"] != each["before"] for each in (one, other)):
        yield "something outside of the directory has changed"
    if one["inside"] != other["inside"]:
        yield "the directory is another when all is done again"
    if sum(len(content or "") for _, _, content in one["inside"].values()) >= MOST_BYTES:
        yield "too much was written"


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_commands_keep_the_promise() -> None:
    assert list(broken_promises(drawn(150))) == []


@pytest.mark.root
@pytest.mark.nightly
@pytest.mark.timeout(3600)
def test_thousands_of_commands_keep_the_promise() -> None:
    assert list(broken_promises(drawn(4_000))) == []


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        ("echo x > ../beside/a", "outside of the directory"),
        ("touch /srv/new", "outside of the directory"),
        ("chmod 600 ../beside", "outside of the directory"),
        ("kill -9 -1", "no command's own"),
        ("sleep 30 > /dev/null 2>&1 &", "leaves processes behind"),
        ("echo $RANDOM", "something else"),
        ("echo $$ > a; cat a", "something else"),
        ("head -c 70000 /dev/zero", "says too much"),
        ("if; then", "syntax error"),
    ],
)
def test_the_jail_sees_what_it_is_there_for(command: str, complaint: str) -> None:
    """It would be easy to see nothing."""
    assert complaint in "\n".join(broken_promises([command]))


@pytest.mark.root
@pytest.mark.slow
def test_the_jail_sees_what_lasts() -> None:
    (complaint,) = broken_promises(["sleep 0.5"], most_seconds=0.4)
    assert complaint.startswith("'sleep 0.5' takes 0.")


def test_commands_are_varied() -> None:
    """A promise about `true` alone is kept easily: of everything that the grammar has, some is there."""
    text = "\n".join(drawn(1_500))
    assert [each for each in WANTED if each not in text] == []


@settings(GENERATED, max_examples=100)
@given(st.lists(st.one_of(literals(), file_names().filter(lambda name: name.isprintable() or name == "new\nline"))))
def test_every_quoting_means_what_it_says(texts: list[str]) -> None:
    """The promise hangs on it: one quote that is forgotten and a word is a command."""
    texts = [text for text in texts if "\udcff" not in text]
    words = [quote(text) for text in texts for quote in QUOTINGS]
    script = f"printf '%s\\0' {' '.join(words)}" if words else "true"
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=True)
    assert done.stdout.decode().split("\0")[:-1] == [text for text in texts for _ in QUOTINGS]


def test_they_run_where_they_are_told_to(tmp_path: Any) -> None:
    """And nowhere, where there is no such place."""
    there = tmp_path / "it's here"
    for command in drawn(20, directory=str(there)):
        done = subprocess.run(["bash", "-c", command], cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True)
        assert done.returncode == 1
    assert list(tmp_path.iterdir()) == []
    there.mkdir()
    for command in drawn(30, directory=str(there)):
        subprocess.run(["bash", "-c", command], cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True)
    assert list(tmp_path.iterdir()) == [there]
    assert list(there.iterdir()) != []


def test_nothing_outlives_a_command_that_is_not_persistent(tmp_path: Any) -> None:
    show = "declare -p v0 v1 v2 i1 i2 i3 list 2> /dev/null; declare -F"
    for command in drawn(40, persistent=False):
        run = ["bash", "-c", f"{command} > /dev/null 2>&1\n{show}"]
        assert subprocess.run(run, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True).stdout == b"", command


def test_the_simplest_are_readable() -> None:
    assert find(shell_commands(), lambda _: True) == "true"
    small = find(shell_commands(), lambda command: "kill -" in command, settings=SEARCH)
    assert len(small) < 80, small


def test_they_name_the_files_that_they_are_given() -> None:
    text = "\n".join(drawn(300, files=["only this"], directories=["there"]))
    assert "only this" in text
    named = Counter(word for word in shlex.split(text.replace("\n", " "), posix=False) if word in ("d/a", "two words"))
    assert not named


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/../../b", "", ".", "a//b", "x\0"])
def test_names_that_lead_out_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="without '\\.\\.'"):
        shell_commands(files=[name])
    with pytest.raises(ValueError, match="without '\\.\\.'"):
        shell_commands(directories=["d", name])


def test_a_literal_word_is_one_word() -> None:
    """Of bash's own splitting, whatever is in it."""

    @settings(GENERATED, max_examples=60)
    @given(st.lists(LITERAL_WORDS, min_size=1, max_size=5))
    def one_each(words: list[str]) -> None:
        done = subprocess.run(["bash", "-c", f"set -- {' '.join(words)}; echo $#"], capture_output=True, check=True)
        assert int(done.stdout) == len(words)

    one_each()
