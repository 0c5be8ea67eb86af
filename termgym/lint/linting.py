"""Linting: all rules over one task folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from termgym.errors import FolderError, TaskError
from termgym.folders import read_folder
from termgym.lint.dockerfile import dockerfile_findings
from termgym.lint.finding import Finding
from termgym.lint.layout import Layout, layout
from termgym.lint.scripts import script_findings
from termgym.lint.texts import text_findings


def lint_folder(path: Path | str) -> list[Finding]:
    """Return what is wrong with a task folder, by file and line; nothing of it is built or run.

    Args:
        path: A folder in Harbor's format or Terminal-Bench 1's.

    Raises:
        TaskError: there is no such folder.
    """
    root = Path(path).absolute()
    if not root.is_dir():
        raise TaskError(f"{str(path)!r} is no folder; give one that holds task.toml or task.yaml")
    at = layout(root)
    found = [*_reading(at), *dockerfile_findings(at), *script_findings(at), *text_findings(at)]
    return sorted(dict.fromkeys(found), key=lambda each: (each.path, each.line or 0, each.rule, each.message))


def _reading(at: Layout) -> Iterator[Finding]:
    """Yield what the reader refuses or does not know."""
    try:
        folder = read_folder(at.root)
    except FolderError as error:
        if "CR LF" not in str(error) and "byte-order mark" not in str(error):  # `crlf-script` says that with its line
            yield Finding("unreadable", ".", None, str(error).replace(f"{at.root}/", ""))
        return
    for each in folder.unknown:
        yield Finding("unknown-field", at.name(at.config), None, each)
