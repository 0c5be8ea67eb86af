"""Tasks: what is to be done in an episode, and the families that make them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from termgym.tasks.registry import blank, causes, families, make_task, summary
from termgym.tasks.task import HOME, FileSpec, Limits, Service, Task

if TYPE_CHECKING:
    from termgym.tasks.validation import validate

__all__ = [
    "HOME",
    "FileSpec",
    "Limits",
    "Service",
    "Task",
    "blank",
    "causes",
    "families",
    "make_task",
    "summary",
    "validate",
]


def __getattr__(name: str) -> Any:
    if name == "validate":  # on demand: it plays episodes, and an episode needs this package
        from termgym.tasks.validation import validate

        return validate
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
