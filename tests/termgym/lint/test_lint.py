"""Each rule finds what it is for, on the line where it stands, and says nothing about a sound folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from termgym.errors import TaskError
from termgym.lint import RULES, Finding, lint_folder
from termgym.lint.commands import LONGEST, commands
from termgym.lint.fetching import fetched

HARBOR = {
    "task.toml": "schema_version = '1.4'\n[agent]\ntimeout_sec = 60\n[verifier]\ntimeout_sec = 60\n"
    "[environment]\ncpus = 1\nmemory_mb = 512\n",
    "instruction.md": "Sort /app/names.txt into /app/sorted.txt, as `sort` does.\n",
    "environment/Dockerfile": "FROM debian:12.5\nWORKDIR /app\nCOPY names.txt /app/\n",
    "environment/names.txt": "Mara\nJonas\nInes\nTomas\nYuki\nPetra\nSamir\n",
    "tests/test.sh": "#!/bin/bash\necho 0 > /logs/verifier/reward.txt\n"
    "sort /app/names.txt | cmp - /app/sorted.txt && echo 1 > /logs/verifier/reward.txt\n",
    "solution/solve.sh": "#!/bin/bash\nsort /app/names.txt > /app/sorted.txt\n",
}
BENCH = {
    "task.yaml": "instruction: Make /app/made.txt.\nmax_agent_timeout_sec: 60\nmax_test_timeout_sec: 60\n",
    "Dockerfile": "FROM debian:12.5\nWORKDIR /app\n",
    "run-tests.sh": "#!/bin/bash\npytest /tests/test_outputs.py -rA\n",
    "tests/test_outputs.py": "def test_made():\n    assert open('/app/made.txt')\n",
    "solution.sh": "#!/bin/bash\ntouch /app/made.txt\n",
}
WRONG = [
    ({"environment/Dockerfile": "FROM debian:12.5\nCOPY tests /x\n", "environment/tests/test.sh": "#!/bin/sh\n"},
     "tests-in-image", "environment/Dockerfile", 2),
    ({"environment/Dockerfile": "FROM debian:12.5\nCOPY . /x\n", "environment/solve.sh": "#!/bin/sh\n"},
     "solution-in-image", "environment/Dockerfile", 2),
    ({"environment/expected.txt": "Ines\nJonas\nMara\nPetra\nSamir\nTomas\nYuki\n",
      "environment/Dockerfile": "FROM debian:12.5\nCOPY *.txt /app/\n",
      "tests/expected.txt": "Ines\nJonas\nMara\nPetra\nSamir\nTomas\nYuki\n"},
     "answer-in-image", "environment/Dockerfile", 2),
    ({"tests/test.sh": "#!/bin/bash\r\necho 1 > /logs/verifier/reward.txt\r\n"}, "crlf-script", "tests/test.sh", 1),
    ({"tests/help.sh": "\ufeffecho\n"}, "crlf-script", "tests/help.sh", 1),
    ({"solution/solve.sh": "sort /app/names.txt > /app/sorted.txt\n"}, "no-shebang", "solution/solve.sh", 1),
    ({"tests/test.sh": "#!/bin/bash\nsort /app/names.txt | cmp - /app/sorted.txt\n"},
     "no-reward", "tests/test.sh", None),
    ({"tests/test.sh": "#!/bin/bash\nmkdir -p /logs/verifier\necho 1 > /logs/verifier/reward.txt\n"
      "pytest /tests/t.py || echo 0 > /logs/verifier/reward.txt\n"}, "reward-before-tests", "tests/test.sh", 3),
    ({"tests/test.sh": "#!/bin/bash\nset -euo pipefail\npytest /tests/t.py\n"
      "echo 1 > /logs/verifier/reward.txt\n"}, "reward-lost", "tests/test.sh", 3),
    ({"tests/test.sh": "#!/bin/bash -e\npython3 /tests/t.py\necho $? > /logs/verifier/reward.txt\n"},
     "reward-lost", "tests/test.sh", 2),
    ({"tests/test.sh": HARBOR["tests/test.sh"] + "curl -LsSf https://astral.sh/uv/install.sh | sh\n"},
     "verifier-network", "tests/test.sh", 4),
    ({"tests/test.sh": HARBOR["tests/test.sh"] + "if true; then\n  sudo apt-get install -y curl\nfi\n"},
     "verifier-network", "tests/test.sh", 5),
    ({"solution/solve.sh": HARBOR["solution/solve.sh"] + "git clone \\\n  https://github.com/x/y\n"},
     "solution-network", "solution/solve.sh", 3),
    ({"environment/Dockerfile": "FROM debian\nCOPY names.txt /\n"}, "unpinned-image", "environment/Dockerfile", 1),
    ({"environment/Dockerfile": "FROM debian:12.5 AS base\nFROM base\nFROM node:latest\nCOPY names.txt /app/\n"},
     "unpinned-image", "environment/Dockerfile", 3),
    ({"environment/Dockerfile": "FROM debian:12.5\nRUN apt-get update && \\\n    pip install -r r.txt numpy\n"},
     "unpinned-python", "environment/Dockerfile", 2),
    ({"environment/Dockerfile": "FROM debian:12.5\nRUN <<END\ntrue\napt-get install -y git=1:2.47\n"
      "apt-get install -y --no-install-recommends jq\nEND\n"}, "unpinned-apt", "environment/Dockerfile", 5),
    ({"task.toml": "[environment]\ncpus = 1\nmemory = '2G'\n[verifier]\ntimeout_sec = 60\n"},
     "no-time-limit", "task.toml", None),
    ({"task.toml": "[agent]\ntimeout_sec = 60\n[verifier]\ntimeout_sec = 60\n[environment]\ncpus = 1\n"},
     "no-limits", "task.toml", None),
    ({"environment/env": "A=1\nKEY=ghp_" + "a1B2" * 9 + "\n"}, "secret", "environment/env", 2),
    ({"instruction.md": "First line.\nSort /app/name.txt into /app/sorted.txt.\n"},
     "missing-file", "instruction.md", 2),
]  # fmt: skip
Write = Callable[[Mapping[str, str]], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(content: Mapping[str, str]) -> Path:
        for name, text in content.items():
            path = tmp_path / "task" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path / "task"

    return write


def found(folder: Path) -> set[tuple[str, str, int | None]]:
    return {(each.rule, each.path, each.line) for each in lint_folder(folder)}


@pytest.mark.parametrize("content", [HARBOR, BENCH], ids=["harbor", "terminal-bench"])
def test_a_sound_folder_breaks_no_rule(write: Write, content: Mapping[str, str]) -> None:
    """The control of the tests below, and the promise that a warning means something."""
    assert lint_folder(write(content)) == []


@pytest.mark.parametrize(("change", "rule", "path", "line"), WRONG)
def test_finds(write: Write, change: dict[str, str], rule: str, path: str, line: int | None) -> None:
    """One thing is wrong, and that alone is told."""
    assert found(write({**HARBOR, **change})) == {(rule, path, line)}


@pytest.mark.parametrize(
    ("change", "rule", "path", "line"),
    [
        ({"Dockerfile": "FROM debian:12.5\nCOPY . /app\n"}, {"tests-in-image", "solution-in-image"}, "Dockerfile", 2),
        ({"Dockerfile": "FROM debian:12.5\nADD solution.sh /x\n"}, {"solution-in-image"}, "Dockerfile", 2),
        ({"task.yaml": "instruction: Make /app/made.txt.\n"}, {"no-time-limit"}, "task.yaml", None),
        ({"run-tests.sh": "#!/bin/bash\nuv add pytest==8.4.1\n"}, {"verifier-network"}, "run-tests.sh", 2),
    ],
)  # fmt: skip
def test_finds_in_terminal_bench(
    write: Write, change: dict[str, str], rule: set[str], path: str, line: int | None
) -> None:
    """There the whole folder is the context of the build, tests and solution included."""
    assert found(write({**BENCH, **change})) == {(each, path, line) for each in rule}


@pytest.mark.parametrize(
    "change",
    [
        {"environment/.dockerignore": "# all\nsolve.sh\n", "environment/Dockerfile": "FROM debian:12.5\nCOPY . /x\n",
         "environment/solve.sh": "#!/bin/sh\n"},
        {"environment/Dockerfile": "FROM debian:12.5 AS b\nCOPY names.txt /\nFROM scratch\n"
         "COPY --from=b tests/test.sh /x\n"},
        {"environment/Dockerfile": "FROM debian:12.5\nCOPY names.txt /app/\nRUN pip install --no-index x ./y z==1.2\n"},
        {"tests/test.sh": "#!/bin/bash\nset -e\nif pytest /tests/t.py; then echo 1 > /logs/verifier/reward.txt\n"
         "else echo 0 > /logs/verifier/reward.txt; fi\n"},
        {"tests/test.sh": "#!/bin/bash\nset -e\ntrap /tests/fail ERR\npytest /tests/t.py\n"
         "echo 1 > /logs/verifier/reward.txt\n"},
        {"tests/test.sh": "#!/bin/bash\nset -e\ntrap 'echo 0 > /logs/verifier/reward.txt' ERR\npytest /tests/t.py\n"
         "echo 1 > /logs/verifier/reward.txt\n"},
        {"tests/test.sh": "#!/bin/bash\nset -e\nset +e\npytest /tests/t.py\necho $? > /logs/verifier/reward.txt\n"},
        {"tests/test.sh": "#!/bin/bash\npython3 /tests/judge.py\n",
         "tests/judge.py": "open('/logs/verifier/reward.json', 'w')"},
        {"tests/test.sh": HARBOR["tests/test.sh"] + "curl -s http://127.0.0.1:8000/ http://localhost/x\n"},
        {"tests/test.sh": HARBOR["tests/test.sh"] + "cat <<END\npip install numpy\nEND\n"},
        {"instruction.md": "Sort /app/names.txt; see /etc/hosts.conf, ~/x/y.txt, https://x.org/a/b.txt, /app/*.csv.\n"},
        {"instruction.md": "Sort /srv/data.csv.\n",
         "environment/Dockerfile": "FROM debian:12.5\nCOPY names.txt /\nADD https://x.org/all.tar /srv/\n"},
        {"environment/Dockerfile": "FROM debian:12.5\nCOPY names.txt /\nRUN <<END\nno end\n"},
    ],
)  # fmt: skip
def test_says_nothing_of_what_may_be_meant(write: Write, change: dict[str, str]) -> None:
    """A rule that cries over sound tasks is switched off, and with it those that do not."""
    assert lint_folder(write({**HARBOR, **change})) == []


def test_every_rule_is_put_to_the_test() -> None:
    """What is not broken on purpose above is the reader's to find."""
    broken = {rule for _, rule, *_ in WRONG}
    assert set(RULES) - broken == {"unreadable", "unknown-field"}


@pytest.mark.parametrize(
    ("change", "rule", "path", "message"),
    [
        (
            {"task.toml": HARBOR["task.toml"] + "cpu = 3\n"},
            "unknown-field",
            "task.toml",
            "environment.cpu (task",
        ),
        ({"task.toml": "version = "}, "unreadable", ".", "task.toml, line 1: "),
        ({"instruction.md": ""}, "unreadable", ".", "instruction.md: is empty"),
    ],
)
def test_tells_what_the_reader_says(write: Write, change: dict[str, str], rule: str, path: str, message: str) -> None:
    """A folder that cannot be read is told from one that is sound."""
    (one,) = lint_folder(write({**HARBOR, **change}))
    assert (one.rule, one.path) == (rule, path)
    assert one.message.startswith(message)


def test_a_finding_says_where_what_and_what_to_do() -> None:
    told = str(Finding("unpinned-image", "environment/Dockerfile", 1, "FROM debian"))
    assert told == ("environment/Dockerfile, line 1: FROM debian [unpinned-image]; name a tag that stays, or a digest")


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=r"is no folder; give one that holds task\.toml or task\.yaml"):
        lint_folder(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("command", "unpinned"),
    [
        ("pip install a b==1 'c>=2' -r d.txt --index-url x e[f]", ("a", "c>=2", "e[f]")),
        ("python3 -m pip install -U a", ("a",)),
        ("pip install git+https://github.com/a/b", ("git+https://github.com/a/b",)),
        (f"pip install git+https://github.com/a/b@{'0' * 40}", ()),
        ("uv pip install --system a", ("a",)),
        ("uvx -p 3.13 -w pytest==8.4.1 -w c pytest --ctrf /x /tests/t.py", ("c",)),
        ("uvx ruff check .", ("ruff",)),
        ("uvx --from a==1 b", ()),
        ("uv tool install a", ("a",)),
        ("uv run --with a pytest", ("a",)),
        ("sudo apt-get -y install a=1 b", ("b",)),
        ("apt install ./a.deb", ()),
        ("npm install", ()),
    ],
)
def test_tells_what_is_not_pinned(command: str, unpinned: tuple[str, ...]) -> None:
    (one,) = commands(command)
    fetch = fetched(one)
    assert fetch is not None
    assert fetch.unpinned == unpinned


@pytest.mark.parametrize(
    "command", ["pip list", "pip install -e .", "apt-get update", "uv run pytest", "git status", "curl -O x",
                "npm test", "wget http://127.0.0.1:1/x", "git clone /srv/a", "apt install ./a.deb",
                "uv sync --offline"],
)  # fmt: skip
def test_tells_what_stays_on_this_machine(command: str) -> None:
    (one,) = commands(command)
    fetch = fetched(one)
    assert fetch is None or fetch.what == ()


def test_a_script_made_to_break_the_reader_is_read_in_part() -> None:
    """Third-party folders are looked at before anybody trusts them."""
    deep = "(" * (LONGEST // 3) + "true" + ")" * (LONGEST // 3)
    assert commands(f"cd /\n{deep}")[0].name == "cd"
    assert commands("\0" * 99) == []


def test_what_is_too_large_or_odd_to_be_read_is_passed_over(write: Write) -> None:
    """A folder may hold five gigabytes of nothing, a pipe that nobody writes to, a link in a circle."""
    folder = write(HARBOR)
    with (folder / "tests" / "huge.sh").open("wb") as file:
        file.truncate(5 << 30)
    os.mkfifo(folder / "environment" / "pipe.sh")
    (folder / "solution" / "round.sh").symlink_to("round.sh")
    (folder / "tests" / "binary").write_bytes(b"\xff\xfe\x00")
    assert {each.rule for each in lint_folder(folder)} <= {"unreadable"}
