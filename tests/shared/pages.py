"""Pages of the documentation as programs: their blocks of Python run from top to bottom and print what the page says.

A page whose code needs an extra that the extra `test` does not bring says so in a comment at its beginning,
``<!-- needs rolf[ppo] -->``; it is run where models are (tests/adapters).
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import subprocess
import sys
from pathlib import Path

from sybil import Example, Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
NEEDS = re.compile(r"\A<!-- needs rolf\[[a-z0-9,]+\] -->$", re.MULTILINE)
PRINTED = re.compile(r"\s*```text\n(.*?)^```$", re.DOTALL | re.MULTILINE)
"""What a page says that the block before it prints."""


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def with_code(*, extras: bool) -> list[Path]:
    """Return the pages that hold code: those whose code needs an extra, or the others."""
    texts = {path: path.read_text() for path in PAGES}
    return [path for path, text in texts.items() if "```python" in text and bool(NEEDS.match(text)) is extras]


def run(path: Path) -> None:
    """Run a page's code in the present directory.

    Raises:
        AssertionError: it prints something else than the page says.
    """
    text, examples = path.read_text(), parsed(path)
    assert len(examples) == text.count("```python")
    for example in examples:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            example.evaluate()
        told = PRINTED.match(text, example.end)
        if told is not None:
            compare(told[1], printed.getvalue())


def parsed(path: Path) -> list[Example]:
    return list(Sybil(parsers=[PythonCodeBlockParser()], pattern="*.md").parse(path).examples())


def compare(told: str, printed: str) -> None:
    """Compare what a page says with what its Python printed, or with what its line for a shell prints."""
    if told.startswith("$ rolf "):
        line, _, told = told.removeprefix("$ rolf ").partition("\n")
        command = [sys.executable, "-c", "from rolf.cli import main; main(prog_name='rolf')", *line.split()]
        printed = subprocess.run(command, capture_output=True, text=True, timeout=60).stdout
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.OutputChecker().check_output(told, printed, flags), f"the page says\n{told}\nit is\n{printed}"
