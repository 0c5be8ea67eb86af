"""Folder: a task on disk, of either format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from termgym.tasks.task import Task

HARBOR = "harbor"
TERMINAL_BENCH = "terminal-bench"
FILES = {"task.toml": HARBOR, "task.yaml": TERMINAL_BENCH}
"""The file that makes a directory a task folder, and of which kind."""


@dataclass(frozen=True, slots=True)
class FolderTask:
    """A task as a folder holds it."""

    task: Task
    """What is played. It refers to copies in the cache, so it stays what it is when the folder is edited."""
    path: str
    """The folder."""
    kind: str
    """``harbor`` or ``terminal-bench``."""
    schema: str
    """Version of the format; Terminal-Bench's has none, and is called 1."""
    unknown: tuple[str, ...] = ()
    """Keys that the format does not know, each with its file and line; they are kept when the folder is written."""
    notes: tuple[str, ...] = ()
    """What the folder asks for and does not get, or gets otherwise, for people."""
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What it says about itself: authors, difficulty, category, tags, estimates."""
    source: str = ""
    """The text of ``task.toml`` or ``task.yaml``."""
