"""The documentation is true: its code runs, its links lead somewhere, what is generated is up to date."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
from pages import PAGES, ROOT, name, run, with_code

LINK = re.compile(r"\[[^]]*\]\(([^)#\s]+)[^)]*\)")


@pytest.mark.parametrize("path", with_code(extras=False), ids=name)
def test_code_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page run from top to bottom as one program and print what the page says they print."""
    monkeypatch.chdir(tmp_path)
    run(path)


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
