"""A Dockerfile is read as docker reads it, and what is wrong with it is said with its line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from termgym.errors import ImageError
from termgym.image.dockerfile import Dockerfile, read_dockerfile


@pytest.fixture
def read(tmp_path: Path):
    def parse(text: str) -> Dockerfile:
        (tmp_path / "Dockerfile").write_text(text)
        return read_dockerfile(str(tmp_path / "Dockerfile"))

    return parse


def test_reads_continuations_comments_and_lines(read) -> None:
    found = read("FROM a\n# one\nRUN echo a && \\\n# between\n  echo b\n\nENV A=1 \\\n  B=2\n").stages[0].steps
    assert [(step.name, step.line) for step in found] == [("RUN", 3), ("ENV", 7)]
    assert found[0].args == ("echo a &&   echo b",)


def test_reads_another_escape_sign(read) -> None:
    step = read("# escape=`\nFROM a\nRUN a `\n b\\c\n").stages[0].steps[0]
    assert step.args == ("a  b\\c",)
    assert step.escape == "`"


def test_tells_the_exec_form_from_a_shell_that_looks_like_it(read) -> None:
    steps = read('FROM a\nRUN ["echo", "a b"]\nRUN [ -f x ]\nRUN ["echo", \'a\']\n').stages[0].steps
    assert [(step.json, step.args) for step in steps] == [
        (True, ("echo", "a b")),
        (False, ("[ -f x ]",)),
        (False, ("[\"echo\", 'a']",)),
    ]


def test_reads_heredocs_with_their_quotes_and_tabs(read) -> None:
    steps = read("FROM a\nCOPY <<EOF <<-'X' /d/\n$A\nEOF\n\t$B\n\tX\nRUN echo\n").stages[0].steps
    assert [(h.name, h.content, h.expand, h.chomp) for h in steps[0].heredocs] == [
        ("EOF", "$A\n", True, False),
        ("X", "\t$B\n", False, True),
    ]
    assert steps[1].line == 7


def test_ignores_what_an_onbuild_says(read) -> None:
    """It is not for this image, and may be wrong in it."""
    assert [step.name for step in read("FROM a\nONBUILD COPY x\nCMD x\n").stages[0].steps] == ["ONBUILD", "CMD"]


def test_finds_stages_by_name_in_any_case_and_by_number(read) -> None:
    found = read("FROM a AS Base\nFROM b\nFROM Base AS last\n")
    assert [stage.name for stage in found.stages] == ["base", "", "last"]
    assert found.stage("BASE") is found.stages[0]
    assert found.stage("1") is found.stages[1]
    assert found.stage("last", 2) is None


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("FROM a\nCOPPY x y\n", 2, "did you mean COPY?"),
        ("FROM a\nXYZZY\n", 2, "allowed are ADD, ARG"),
        ("FROM a\nCOPY --form=b x y\n", 2, "did you mean --from?"),
        ("FROM a\nRUN --chown=b x\n", 2, "allowed are --mount, --network, --security"),
        ("FROM a\nRUN cat <<EOF\nx\n", 2, "unterminated heredoc"),
        ("FROM a\nENV A\n", 2, "ENV must have two arguments"),
        ("FROM a\nENV A=1 B\n", 2, "can't find = in"),
        ("FROM a b\n", 1, "write FROM IMAGE or FROM IMAGE AS NAME"),
        ("FROM a AS 1st\n", 1, "begin with a letter"),
        ("RUN x\nFROM a\n", 1, "only ARG may"),
        ("FROM a\nWORKDIR\n", 2, "takes at least one argument"),
        ("# escape=x\nFROM a\n", 1, "invalid escape token"),
    ],
)
def test_says_the_line_and_what_is_allowed(read, text: str, line: int, said: str) -> None:
    with pytest.raises(ImageError) as caught:
        read(text)
    assert f"Dockerfile, line {line}:" in str(caught.value)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "no FROM"), (b"FROM a\nRUN \xff\n", "is no UTF-8"), (b"#" * (2 << 20), "longer than 1 MiB")],
)
def test_refuses_what_is_no_dockerfile(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "Dockerfile").write_bytes(content)
    with pytest.raises(ImageError, match=said):
        read_dockerfile(str(tmp_path / "Dockerfile"))


def test_does_not_wait_for_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "Dockerfile")
    with pytest.raises(ImageError, match="not a regular file"):
        read_dockerfile(str(tmp_path / "Dockerfile"))


def test_says_that_there_is_none(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match="No such file or directory; give the path"):
        read_dockerfile(str(tmp_path / "Dockerfile"))
