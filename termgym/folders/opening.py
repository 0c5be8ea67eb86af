"""Opening: find task folders, and read them whatever their format is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from termgym.errors import FolderError
from termgym.folders.folder import FILES, HARBOR, TERMINAL_BENCH, FolderTask
from termgym.folders.harbor import read_harbor
from termgym.folders.terminal_bench import read_terminal_bench

READERS: Mapping[str, Callable[[Path, Mapping[str, str]], FolderTask]] = {
    HARBOR: read_harbor,
    TERMINAL_BENCH: read_terminal_bench,
}


def read_folder(path: str | Path, *, host_env: Mapping[str, str] | None = None) -> FolderTask:
    """Return the task that a folder holds.

    Args:
        path: A directory with a ``task.toml`` (Harbor) or a ``task.yaml`` (Terminal-Bench 1).
        host_env: Variables of the host that templates such as ``${API_KEY}`` in the folder may be filled with; None:
            none at all.

    Raises:
        FolderError: it is no task folder, or one with a mistake; says file, line, value and what is allowed.
    """
    folder = Path(path).absolute()
    if not folder.is_dir():
        kind = "is no directory" if folder.exists() else "is not there"
        raise FolderError(f"{folder}: {kind}; give a directory with a task.toml or a task.yaml")
    kinds = [kind for name, kind in FILES.items() if (folder / name).exists() or (folder / name).is_symlink()]
    if not kinds:
        below = find_folders(folder)
        more = f"; {len(below)} task folders lie below it: give one of them, or tasks={str(path)!r}" if below else ""
        raise FolderError(f"{folder}: has neither a task.toml (Harbor) nor a task.yaml (Terminal-Bench 1){more}")
    try:
        return READERS[kinds[0]](folder, dict(host_env or {}))
    except OSError as error:  # a directory that may not be looked into, a cache without room
        where = error.filename or folder
        raise FolderError(f"{where}: {error.strerror}; let your user read the folder and write the cache") from error


def find_folders(path: str | Path) -> tuple[Path, ...]:
    """Return the task folders below a directory, or the directory itself if it is one, sorted by name.

    A folder within a task folder is a part of that task and not looked at; neither are hidden directories.

    Raises:
        FolderError: it is no directory.
    """
    folder = Path(path).absolute()
    if not folder.is_dir():
        kind = "is no directory" if folder.exists() else "is not there"
        raise FolderError(f"{folder}: {kind}; give a directory of task folders")
    if any((folder / name).is_file() for name in FILES):
        return (folder,)
    found: list[Path] = []
    for each in sorted(folder.iterdir()):
        if each.is_dir() and not each.is_symlink() and not each.name.startswith("."):
            found.extend(find_folders(each))
    return tuple(found)
