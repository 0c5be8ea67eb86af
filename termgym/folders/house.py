"""House: the table ``[metadata.rolf]``, for what neither format can say and an episode needs."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Any

from pydantic import Field

from termgym.errors import TaskError
from termgym.folders.reading import Line, checked
from termgym.folders.schema import Table
from termgym.folders.source import Source
from termgym.tasks.task import Limits

STEPS = 100
"""Steps of an episode with a task folder that names none; its tasks are longer than those of the house's families."""
ANYWHERE = ("/**",)
"""What may change, where nobody says it: a folder's verifier judges the outcome, not the way."""


MARK = "rolf"
"""What the table is called below ``[metadata]``."""


class House(Table):
    """``[metadata.rolf]``."""

    max_steps: Annotated[int, Field(ge=1)] = STEPS
    """Steps after which an episode is truncated."""
    allowed: tuple[str, ...] = ANYWHERE
    """Globs of paths that may change without state drift."""
    id: Annotated[str, Field(min_length=1)] | None = None
    """What the task is called, where neither [task] nor the folder's name says it."""
    guard: bool = True
    """Whether a verifier is shown the image's own programs where the agent changed them; false if that is the task."""
    limits: dict[str, float | None] | None = None
    """Fields of ``termgym.Limits``, where [environment] cannot say them; then it says nothing of them."""
    task: str | None = None
    """File below the folder that holds a generated task as data."""
    digest: str | None = None
    """Digest of the folder as it was written; where it differs, the folder was edited."""
    differs: tuple[str, ...] = ()
    """What other harnesses do not reproduce of a generated task."""


def own_limits(told: dict[str, float | None]) -> Limits:
    """Return the limits of the table.

    Raises:
        TaskError: one is unknown or wrong.
    """
    known = {each.name for each in fields(Limits)}
    for name in told:
        if name not in known:
            raise TaskError(f"metadata.rolf.limits has {name!r}; allowed are {', '.join(sorted(known))}")
    whole = {name: value if name == "cpu_cores" or value is None else int(value) for name, value in told.items()}
    return Limits(**whole)  # type: ignore[arg-type]  # looked at by Limits itself


def house(table: Any, source: Source, line: Line) -> House:
    """Return what the table says; None: it is not there.

    Raises:
        FolderError: a value is wrong.
    """
    if table is None:
        return House()

    def below(name: Any) -> int | None:
        return line(("metadata", MARK, *name))

    return checked(House, table, source, below)
