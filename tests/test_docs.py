"""The documentation is true: its code runs, its links lead somewhere, what is generated is up to date."""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from sybil import Example, Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
PRINTED = re.compile(r"\s*```text\n(.*?)^```$", re.DOTALL | re.MULTILINE)
"""What a page says that the block before it prints."""
LINK = re.compile(r"\[[^]]*\]\(([^)#\s]+)[^)]*\)")


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def parsed(path: Path) -> list[Example]:
    return list(Sybil(parsers=[PythonCodeBlockParser()], pattern="*.md").parse(path).examples())


@pytest.mark.parametrize("path", [path for path in PAGES if "```python" in path.read_text()], ids=name)
def test_code_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page run from top to bottom as one program and print what the page says they print."""
    monkeypatch.chdir(tmp_path)
    text, examples = path.read_text(), parsed(path)
    assert len(examples) == text.count("```python")
    for example in examples:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            example.evaluate()
        told = PRINTED.match(text, example.end)
        if told is not None:
            compare(told[1], printed.getvalue())


def compare(told: str, printed: str) -> None:
    """Compare what a page says with what its Python printed, or with what its line for a shell prints."""
    if told.startswith("$ rolf "):
        line, _, told = told.removeprefix("$ rolf ").partition("\n")
        command = [sys.executable, "-c", "from rolf.cli import main; main(prog_name='rolf')", *line.split()]
        printed = subprocess.run(command, capture_output=True, text=True, timeout=60).stdout
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.OutputChecker().check_output(told, printed, flags), f"the page says\n{told}\nit is\n{printed}"


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_links_lead_somewhere(path: Path) -> None:
    """A page moves and its readers do not."""
    targets = [target for target in LINK.findall(path.read_text()) if "://" not in target]
    broken = [target for target in targets if not (path.parent / target).exists()]
    assert broken == []


@pytest.mark.parametrize(
    ("script", "page"),
    [
        ("help_text.py", "command-line.md"),
        ("lint_rules.py", "lint-rules.md"),
        ("terminal_tasks.py", "terminal-tasks.md"),
    ],
)
def test_generated_pages_are_up_to_date(script: str, page: str) -> None:
    """Each is written by its script; a reader must not be told of options or rules that are gone."""
    module = runpy.run_path(str(ROOT / "docs" / script))
    assert (ROOT / "docs" / "reference" / page).read_text() == module["text"]()
