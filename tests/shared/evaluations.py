"""Evaluations that tests make and look at."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from rolf.splitting import as_json
from rolf.variant import Labels, Split, Variant

ROLF = (sys.executable, "-W", "error", "-c", "from rolf.cli import main; main(prog_name='rolf')")
"""The command line in a process of its own, with warnings as errors."""


def write_split(path: Path, variants: tuple[Variant, ...], attempts: int = 2) -> Path:
    """Write a split file."""
    labels = tuple(Labels(variant.name) for variant in variants)
    path.write_text(json.dumps(as_json(Split(path.stem, variants, labels, attempts))))
    return path


def rows(folder: Path, name: str = "results.jsonl") -> list[dict[str, Any]]:
    """Return the rows of a submission, less the time that they took."""
    found = [json.loads(line) for line in (folder / name).read_text().splitlines()]
    for row in found:
        assert row.pop("seconds") >= 0
    return found


def contents(folder: Path) -> dict[str, Any]:
    """Return all files of a submission, rows less the time that they took."""
    files: dict[str, Any] = {
        str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }
    files["results.jsonl"] = rows(folder)
    return files
