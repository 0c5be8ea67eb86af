"""Writing: a task as a folder that other harnesses read, and that reads back as the same task."""

from __future__ import annotations

import tempfile
import tomllib
from dataclasses import fields
from pathlib import Path
from shutil import rmtree
from typing import Any

from termgym.errors import FolderError
from termgym.folders.export import export
from termgym.folders.folder import TERMINAL_BENCH, FolderTask
from termgym.folders.harbor_folder import write_harbor
from termgym.folders.opening import read_folder
from termgym.folders.terminal_bench_file import write_terminal_bench
from termgym.folders.variables import TEMPLATE
from termgym.tasks.task import Task


def write_folder(task: Task | FolderTask, path: str | Path) -> None:
    """Write a task as a folder.

    Args:
        task: A task becomes a Harbor folder; a folder's task stays of its kind, and keeps what it says beside the task.
        path: A directory that is not there yet, or is empty.

    Raises:
        FolderError: there is something at ``path``, or the task holds what the format cannot say.
    """
    target = Path(path).absolute()
    if target.is_symlink() or (target.exists() and not (target.is_dir() and not any(target.iterdir()))):
        raise FolderError(f"{target}: is there already; give a directory that is not, or an empty one")
    target.parent.mkdir(parents=True, exist_ok=True)
    room = Path(tempfile.mkdtemp(prefix=".writing-", dir=target.parent))
    try:
        scratch = room / target.name
        scratch.mkdir()
        wanted, host = _write(task, scratch)
        _compare(wanted, read_folder(scratch, host_env=host).task, target)
        if target.exists():
            target.rmdir()
        scratch.rename(target)
    finally:
        rmtree(room)


def _write(given: Task | FolderTask, folder: Path) -> tuple[Task, dict[str, str]]:
    """Write the files; return the task that they should read back as, and what of the host they need for it."""
    task = given.task if isinstance(given, FolderTask) else given
    if task.image is None:
        export(task, folder)
        return task, {}
    if isinstance(given, FolderTask) and given.kind == TERMINAL_BENCH:
        write_terminal_bench(given, folder)
        return task, {}
    before = tomllib.loads(given.source) if isinstance(given, FolderTask) else {}
    write_harbor(task, folder, before)
    return task, _offered(task, before)


def _offered(task: Task, before: dict[str, Any]) -> dict[str, str]:
    """Return what the host gave when the task was read: the templates are written, not the values."""
    pairs = [
        (before.get("environment", {}), task.image.env if task.image else {}),
        (before.get("verifier", {}), task.verifier.env if task.verifier else {}),
        (before.get("solution", {}), task.solution.env if task.solution else {}),
    ]
    for stage in task.stages:
        pairs.append((before.get("verifier", {}), stage.verifier.env))
        pairs.append((before.get("solution", {}), stage.solution.env if stage.solution else {}))
        pairs.extend((step.get("verifier", {}), stage.verifier.env) for step in before.get("steps", ()))
    found = {}
    for table, env in pairs:
        for name, value in table.get("env", {}).items():
            template = TEMPLATE.fullmatch(str(value))
            if template is not None and name in env:
                found[template[1]] = env[name]
    return found


def _compare(wanted: Task, found: Task, target: Path) -> None:
    """Refuse a folder that would not read back as the task."""
    other = [each.name for each in fields(Task) if getattr(wanted, each.name) != getattr(found, each.name)]
    if other:
        said = "; ".join(f"{name} would be {getattr(found, name)!r:.200}" for name in other)
        raise FolderError(f"{target}: the format cannot say all of task {wanted.id!r}: {said}; nothing was written")
