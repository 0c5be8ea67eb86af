"""Digest: one figure for all that makes a task what it is, wherever it lies and whatever it is called.

Equal digests mean equal work: verdicts are kept by them, and a split is told by them. What has its default is left
out, so that a field which a later version adds changes no digest. Of directories on the host the content counts, not
the place; of its files the name, the content and the x bit of the owner, which is all that a repository keeps.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from termgym.tasks.task import Task

_NAMES = frozenset({"id", "family", "cause", "seed", "tags"})
"""Fields of a task that say what it is called, not what it is."""
_PLACES = frozenset({"tree", "context", "dockerfile", "directory", "workdir"})
"""Fields that name something on the host, here and in what a task holds; empty: nothing."""


def task_digest(task: Task) -> str:
    """Return the hex SHA-256 of a task's content.

    Raises:
        OSError: a directory of the host that belongs to it cannot be read.
    """
    told = {name: value for name, value in _fields(task).items() if name not in _NAMES}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def folder_digest(path: Path) -> str:
    """Return the hex SHA-256 of all that lies in a folder.

    Raises:
        OSError: something in it cannot be read.
    """
    return _content(path)


def combined(digests: Iterable[str]) -> str:
    """Return the digest of several, in order."""
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def _fields(value: Any) -> dict[str, Any]:
    """Return what differs from the default, as values that JSON can hold."""
    told = {}
    for each in fields(value):
        held = getattr(value, each.name)
        default = each.default_factory() if each.default_factory is not MISSING else each.default
        if held != default:
            told[each.name] = _content(Path(held)) if each.name in _PLACES and held else _plain(held)
    return told


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_defaults=True) | {"type": getattr(value, "type", "plan")}
    if is_dataclass(value):
        return _fields(value)
    if isinstance(value, bytes):
        return {"sha256": hashlib.sha256(value).hexdigest()}
    if isinstance(value, Mapping):
        return {str(key): _plain(held) for key, held in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(each) for each in value]
    return value


def _content(path: Path) -> str:
    """Return the digest of a file or of all that lies below a directory."""
    state = hashlib.sha256()
    for name, each in _below(path):
        status = each.lstat()
        state.update(os.fsencode(name) + b"\0")
        if stat.S_ISLNK(status.st_mode):
            state.update(b"link\0" + os.fsencode(os.readlink(each)) + b"\0")
        elif stat.S_ISREG(status.st_mode):
            state.update(b"x\0" if status.st_mode & stat.S_IXUSR else b"-\0")
            with each.open("rb") as file:
                state.update(hashlib.file_digest(file, "sha256").digest())
        else:
            state.update(b"%o\0" % stat.S_IFMT(status.st_mode))
    return state.hexdigest()


def _below(path: Path) -> Iterator[tuple[str, Path]]:
    """Yield the names below a directory and where they lie, sorted; of a file only itself, without a name."""
    if not path.is_dir():
        yield "", path
        return
    for folder, folders, files in os.walk(path, onerror=_refuse):
        folders.sort()
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        for name in sorted((*files, *links)):
            each = Path(folder, name)
            yield str(each.relative_to(path)), each


def _refuse(error: OSError) -> None:
    raise error
