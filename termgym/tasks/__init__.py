"""Tasks: what is to be done in an episode, and the families that make them."""

from termgym.tasks.registry import blank, causes, families, make_task, summary
from termgym.tasks.task import HOME, FileSpec, Limits, Service, Task

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
]
