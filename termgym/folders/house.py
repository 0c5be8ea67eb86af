"""House: the table ``[metadata.rolf]``, for what neither format can say and an episode needs."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from termgym.folders.reading import Line, checked
from termgym.folders.schema import Table
from termgym.folders.source import Source

STEPS = 100
"""Steps of an episode with a task folder that names none; its tasks are longer than those of the house's families."""
ANYWHERE = ("/**",)
"""What may change, where nobody says it: a folder's verifier judges the outcome, not the way."""


class House(Table):
    """``[metadata.rolf]``."""

    max_steps: Annotated[int, Field(ge=1)] = STEPS
    """Steps after which an episode is truncated."""
    allowed: tuple[str, ...] = ANYWHERE
    """Globs of paths that may change without state drift."""
    task: str | None = None
    """File below the folder that holds a generated task as data."""
    digest: str | None = None
    """Digest of the folder as it was written; where it differs, the folder was edited."""


def house(table: Any, source: Source, line: Line) -> House:
    """Return what the table says; None: it is not there.

    Raises:
        FolderError: a value is wrong.
    """
    if table is None:
        return House()

    def below(name: Any) -> int | None:
        return line(("metadata", "rolf", *name))

    return checked(House, table, source, below)
