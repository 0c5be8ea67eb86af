"""Holdings: what a process holds of its machine now: processes, threads, open files, temporary files, mounts."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

KINDS = ("processes", "threads", "open files", "temporary files", "mounts")


def held(pid: int | None = None) -> dict[str, set[str]]:
    """Return what this process holds, each thing described so that it can be told from others.

    Args:
        pid: Whose child processes to look at; None: this process's own.
    """
    return {
        "processes": set(_processes(os.getpid() if pid is None else pid)),
        "threads": set(_threads()),
        "open files": set(_open_files()),
        "temporary files": {str(path) for path in Path(tempfile.gettempdir()).iterdir()},
        "mounts": {"{4} ({0})".format(*line.split()) for line in _lines("/proc/self/mountinfo")},
    }


def _lines(path: str) -> list[str]:
    return Path(path).read_text(encoding="utf-8", errors="replace").splitlines()


def _threads() -> Iterator[str]:
    """Yield Python's threads and those of libraries."""
    names = {thread.native_id: thread.name for thread in threading.enumerate()}
    for number in map(int, os.listdir("/proc/self/task")):
        yield f"{number} ({names.get(number, 'of a library')})"


def _open_files() -> Iterator[str]:
    for number in os.listdir("/proc/self/fd"):
        try:
            yield f"{number} -> {os.readlink(f'/proc/self/fd/{number}')}"
        except FileNotFoundError:  # the descriptor of this very listing
            continue


def children(pid: int) -> list[int]:
    """Return the child processes of one, zombies included."""
    return [int(each) for path in Path(f"/proc/{pid}/task").glob("*/children") for each in path.read_text().split()]


def _processes(pid: int) -> Iterator[str]:
    """Yield all processes below one."""
    for child in children(pid):
        try:
            words = Path(f"/proc/{child}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
            yield f"{child} ({words[:100] or 'ended, and nobody has waited for it'})"
            yield from _processes(child)
        except FileNotFoundError:  # gone meanwhile
            continue
