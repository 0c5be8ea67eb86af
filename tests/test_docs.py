"""The documentation is true: its code runs, its links lead somewhere, what is generated is up to date."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\[[^]]*\]\(([^)#\s]+)[^)]*\)")


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def parsed(path: Path) -> list[object]:
    return list(Sybil(parsers=[PythonCodeBlockParser()], pattern="*.md").parse(path).examples())


@pytest.mark.parametrize("path", [path for path in PAGES if "```python" in path.read_text()], ids=name)
def test_code_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page run from top to bottom as one program, as a reader would type them."""
    monkeypatch.chdir(tmp_path)
    examples = parsed(path)
    assert len(examples) == path.read_text().count("```python")
    for example in examples:
        example.evaluate()  # type: ignore[attr-defined] # Sybil's Example


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_links_lead_somewhere(path: Path) -> None:
    """A page moves and its readers do not."""
    targets = [target for target in LINK.findall(path.read_text()) if "://" not in target]
    broken = [target for target in targets if not (path.parent / target).exists()]
    assert broken == []


def test_command_line_page_is_up_to_date() -> None:
    """`make help-text` writes it; a reader must not be told of options that are gone."""
    module = runpy.run_path(str(ROOT / "docs" / "help_text.py"))
    assert (ROOT / "docs" / "reference" / "command-line.md").read_text() == module["text"]()
