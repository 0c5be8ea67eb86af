"""Schemas: JSON Schema 2020-12 of the files that a leaderboard reads and writes, shipped beside this module.

``python -m rolf.leaderboard.schemas`` writes them anew from the classes that the files are read and written by.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DIALECT = "https://json-schema.org/draft/2020-12/schema"
FOLDER = Path(__file__).parent


def schemas() -> dict[str, dict[str, Any]]:
    """Return the schemas by the names of their files."""
    from pydantic import TypeAdapter

    from rolf.leaderboard.board import Board
    from rolf.leaderboard.submission import Lock, Row, Submission
    from rolf.leaderboard.verification import Badges

    classes = {"submission": Submission, "lock": Lock, "results-row": Row, "board": Board, "verified": Badges}
    return {f"{name}.json": {"$schema": DIALECT, **TypeAdapter(each).json_schema()} for name, each in classes.items()}


def shipped(name: str) -> dict[str, Any]:
    """Return a schema as it is shipped: ``submission.json``."""
    found: dict[str, Any] = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    return found


def write() -> None:
    """Write all of them."""
    for name, schema in schemas().items():
        (FOLDER / name).write_text(json.dumps(schema, indent=2) + "\n", encoding="utf-8")
