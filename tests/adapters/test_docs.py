"""The pages about training and models are true: their code runs where the extras are installed."""

from __future__ import annotations

from pathlib import Path

import pytest
from pages import name, run, with_code


@pytest.mark.parametrize("path", with_code(extras=True), ids=name)
def test_code_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page run from top to bottom as one program and print what the page says they print."""
    monkeypatch.chdir(tmp_path)
    run(path)
