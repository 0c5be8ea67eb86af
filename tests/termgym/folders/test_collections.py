"""Collections are made of other projects' packages, which are not kept here: these tests make some of that form."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from termgym.errors import FolderError
from termgym.folders import debuggym, intercode, judgement, read_folder
from termgym.folders.queries import QUERIES, Query


@pytest.fixture
def intercode_package(tmp_path: Path) -> Path:
    """Return a package with as many queries as the real one, each with the words that ours replace."""
    queries = [{"query": f"Do number {n} {q.said[0]}".strip(), "gold": f"echo {n}"} for n, q in enumerate(QUERIES)]
    data = tmp_path / "package" / "intercode" / intercode.DATA
    data.parent.mkdir(parents=True)
    data.write_text(json.dumps(queries))
    setup = tmp_path / "package" / "intercode" / intercode.SETUP
    setup.parent.mkdir(parents=True)
    setup.write_text("#!/bin/sh\nmkdir -p /testbed/dir1 /testbed/dir2/subdir1 /testbed/dir3/subdir2\n")
    return tmp_path / "package"


def test_every_query_becomes_a_folder(intercode_package: Path, tmp_path: Path) -> None:
    folders = list(intercode.bring(intercode_package, tmp_path / "made"))
    assert len(folders) == len(set(folders)) == 24
    for folder, query in zip(folders, QUERIES, strict=True):
        found = read_folder(folder)
        assert query.form in found.task.instruction
        assert found.unknown == ()
        assert bool(query.reference) == ("amended" in found.metadata)
        assert not query.said[0] or query.said[0] not in found.task.instruction
        assert (query.reference or "echo ") in (folder / "solution" / "solve.sh").read_text()


def test_a_package_of_another_form_is_refused(intercode_package: Path, tmp_path: Path) -> None:
    with pytest.raises(FolderError, match=r"holds no assets/datasets/bash_queries.json; give the unpacked package"):
        list(intercode.bring(tmp_path, tmp_path / "made"))
    data = intercode_package / "intercode" / intercode.DATA
    queries = json.loads(data.read_text())
    data.write_text(json.dumps(queries[:-1]))
    with pytest.raises(FolderError, match="does not hold 24 queries"):
        list(intercode.bring(intercode_package, tmp_path / "made"))
    queries[13]["query"] = "Another one"
    data.write_text(json.dumps(queries))
    with pytest.raises(FolderError, match="'Another one' does not say 'modified in the last 2 hours'"):
        list(intercode.bring(intercode_package, tmp_path / "made"))
    assert not (tmp_path / "made").exists()


def test_folders_that_are_there_are_not_overwritten(intercode_package: Path, tmp_path: Path) -> None:
    list(intercode.bring(intercode_package, tmp_path / "made"))
    with pytest.raises(FolderError, match="intercode-bash-01: is there already; give another directory"):
        list(intercode.bring(intercode_package, tmp_path / "made"))


PROGRAM = """\
import sys
sys.path.insert(0, {tests!r})
import judge
judge.TESTBED, judge.ANSWER = {testbed!r}, {answer!r}
judge.main({tests!r}, {verdict!r})
"""


class Scene:
    """A testbed elsewhere, judged by a process of its own."""

    def __init__(self, top: Path, **query: Any) -> None:
        self.top, self.testbed, self.answer = top, top / "testbed", top / "answer.txt"
        self.tests = top / "tests"
        self.tests.mkdir()
        (self.tests / "judge.py").write_text(Path(judgement.__file__).read_text())
        (self.tests / "setup_fs.sh").write_text(f"mkdir -p {self.testbed}/d && echo one > {self.testbed}/d/a.txt\n")
        (self.tests / "more.sh").write_text(f"ln -s d/a.txt {self.testbed}/link\n")
        plain: dict[str, Any] = {"ordered": False, "unordered_files": [], "archives": [], "outside": []}
        (self.tests / "query.json").write_text(json.dumps({**plain, **query}))
        for script in ("setup_fs.sh", "more.sh"):
            subprocess.run(["bash", self.tests / script], check=True)

    def reward(self) -> tuple[float, float, float]:
        names = {"tests": self.tests, "testbed": self.testbed, "answer": self.answer, "verdict": self.top / "r.json"}
        program = PROGRAM.format(**{name: str(path) for name, path in names.items()})
        subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
        told = json.loads((self.top / "r.json").read_text())
        return told["reward"], told["answer"], told["files"]


def test_an_answer_counts_line_by_line(tmp_path: Path) -> None:
    scene = Scene(tmp_path, reference="printf 'b  2\\na 1\\n'")
    assert scene.reward() == (0.0, 0.0, 1.0)
    for said, counts in (("a 1\nb 2\n", 1.0), ("b 2\n\n a  1", 1.0), ("a 1\n", 0.0), ("a 1\nb 2\nc\n", 0.0), ("", 0.0)):
        scene.answer.write_text(said)
        assert scene.reward() == (counts, counts, 1.0), said


def test_the_order_counts_where_it_is_asked_for(tmp_path: Path) -> None:
    scene = Scene(tmp_path, reference="printf 'b\\na\\n'", ordered=True)
    scene.answer.write_text("a\nb\n")
    assert scene.reward() == (0.0, 0.0, 1.0)
    scene.answer.write_text("b\na\n")
    assert scene.reward() == (1.0, 1.0, 1.0)


def test_an_answer_that_is_no_file_is_none(tmp_path: Path) -> None:
    scene = Scene(tmp_path, reference="true")
    (tmp_path / "elsewhere").touch()
    scene.answer.symlink_to(tmp_path / "elsewhere")
    assert scene.reward() == (0.0, 0.0, 1.0)


def test_the_files_must_be_those_that_the_reference_leaves(tmp_path: Path) -> None:
    out = tmp_path / "total.txt"
    reference = f"rm {tmp_path}/testbed/link; seq 3 > {tmp_path}/testbed/n; echo 5 > {out}"
    scene = Scene(tmp_path, reference=reference, outside=[str(out)], unordered_files=[f"{tmp_path}/testbed/n"])
    scene.answer.touch()

    def leave(*, link: bool = False, numbers: str = "3\n1\n2\n", total: str = "5\n", extra: bool = False) -> None:
        subprocess.run(["rm", "-rf", scene.testbed, out], check=True)
        for script in ("setup_fs.sh", "more.sh"):
            subprocess.run(["bash", scene.tests / script], check=True)
        if not link:
            (scene.testbed / "link").unlink()
        (scene.testbed / "n").write_text(numbers)
        out.write_text(total)
        if extra:
            (scene.testbed / "d" / "more").touch()

    leave()
    assert scene.reward() == (1.0, 1.0, 1.0)
    for wrong in ({"link": True}, {"numbers": "1\n2\n"}, {"total": "6\n"}, {"extra": True}):
        leave(**wrong)
        assert scene.reward() == (0.0, 1.0, 0.0), wrong


def test_of_an_archive_the_members_count(tmp_path: Path) -> None:
    archive = tmp_path / "testbed" / "x.tar.gz"
    scene = Scene(tmp_path, reference=f"tar -C / -czf {archive} {tmp_path}/testbed/d", archives=[str(archive)])
    scene.answer.touch()
    subprocess.run(["tar", "-C", tmp_path, "-cJf", archive, "testbed/d"], check=True)
    assert scene.reward() == (1.0, 1.0, 1.0)
    subprocess.run(["bash", "-c", f"echo other > {scene.testbed}/d/a.txt"], check=True)
    subprocess.run(["tar", "-C", tmp_path, "-cf", archive, "testbed/d"], check=True)
    subprocess.run(["bash", "-c", f"echo one > {scene.testbed}/d/a.txt"], check=True)
    assert scene.reward() == (0.0, 1.0, 0.0)
    archive.write_text("no archive")
    assert scene.reward() == (0.0, 1.0, 0.0)


def test_a_testbed_that_the_agent_made_a_link_is_no_testbed(tmp_path: Path) -> None:
    scene = Scene(tmp_path, reference="true")
    scene.answer.touch()
    precious = tmp_path / "precious"
    scene.testbed.rename(precious)
    scene.testbed.symlink_to(precious)
    assert scene.reward() == (0.0, 1.0, 0.0)
    assert (precious / "d" / "a.txt").exists()


def test_what_is_replaced_says_why() -> None:
    for query in QUERIES:
        assert query.form.endswith((".", "…"))
        assert bool(query.reference) == bool(query.why)
    assert Query("x").reference == ""


@pytest.fixture
def bugs(tmp_path: Path) -> Path:
    """Return a source distribution with ten programs that our solutions can edit."""
    top = tmp_path / "sdist" / "data" / "mini_nightmare"
    for name, edits in debuggym.SOLUTIONS.items():
        directory = top / name
        directory.mkdir(parents=True)
        program = "\n".join(f'"""\n{old}\n"""' for old, _ in edits)
        if name == "pandas_dataframe":
            program += '\nurl = "https://example.com/table.csv"\n'
        (directory / f"{name}_code.py").write_text(program)
        test = "def test_one():\n    expected_output = 'a\\nb\\nc\\nX'\n\n\nclass TestTwo:\n    def test_two(self):\n"
        (directory / "test.py").write_text(test + "        expected_output = 'X\\nb\\nc\\nd\\ne'\n")
    return tmp_path / "sdist"


def test_every_bug_becomes_a_folder(bugs: Path, tmp_path: Path) -> None:
    folders = list(debuggym.bring(bugs, tmp_path / "made"))
    assert [folder.name for folder in folders] == [name.replace("_", "-") for name in debuggym.SOLUTIONS]
    for folder in folders:
        found = read_folder(folder)
        assert found.task.verifier is not None
        assert found.metadata["origin"].startswith("debug-gym 1.3.0 (MIT)")
        assert "junit.xml 2 >" in (folder / "tests" / "test.sh").read_text()
        compile((folder / "solution" / "edit.py").read_text(), "edit.py", "exec")
    made = tmp_path / "made"
    assert (made / "patcher" / "environment" / "app" / "source_code.txt").read_text() == "a\nb\nc\nd\ne"
    program = (made / "pandas-dataframe" / "environment" / "app" / "pandas_dataframe_code.py").read_text()
    assert 'url = "titanic.csv"' in program
    assert "amended" in read_folder(made / "pandas-dataframe").metadata


def test_bugs_of_another_version_are_refused(bugs: Path, tmp_path: Path) -> None:
    with pytest.raises(FolderError, match="give the unpacked sdist of debug-gym"):
        list(debuggym.bring(tmp_path, tmp_path / "made"))
    (bugs / "data" / "mini_nightmare" / "config" / "config_code.py").write_text("pass\n")
    with pytest.raises(FolderError, match=r"config_code.py has no .*; the solutions are for debug-gym 1.3.0"):
        list(debuggym.bring(bugs, tmp_path / "made"))


@pytest.mark.parametrize(
    ("report", "reward", "passed"),
    [
        ("<testsuites><testsuite><testcase/><testcase/></testsuite></testsuites>", 1.0, 2),
        ("<testsuite><testcase/><testcase><failure/></testcase></testsuite>", 0.5, 1),
        ("<testsuite><testcase><error/></testcase><testcase><skipped/></testcase></testsuite>", 0.0, 0),
        ("<testsuite><testcase/><testcase/><testcase/></testsuite>", 0.0, 2),
        ("<testsuite/>", 0.0, 0),
        ("no report", 0.0, 0),
        (None, 0.0, 0),
    ],
)
def test_the_reward_is_the_share_of_all_tests(report: str | None, reward: float, passed: int, tmp_path: Path) -> None:
    path = tmp_path / "junit.xml"
    if report is not None:
        path.write_text(report)
    argv = [sys.executable, "-c", debuggym.COUNT, str(path), "2"]
    told = json.loads(subprocess.run(argv, check=True, capture_output=True).stdout)
    assert (told["reward"], told["passed"], told["total"]) == (reward, passed, 2)
