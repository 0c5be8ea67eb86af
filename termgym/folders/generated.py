"""Generated: an exported folder, read back as the task that it was made of, unless somebody edited it."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from termgym.folders.copies import gather_context, inside
from termgym.folders.data import from_json
from termgym.folders.house import MARK
from termgym.folders.source import Source, read_source
from termgym.tasks.task import Task


def generated(folder: Path, name: str, source: Source, notes: list[str]) -> Task | None:
    """Return the task that a folder was made of; None if it was edited, which is told.

    Args:
        folder: The folder.
        name: Where in it the task lies as data.
        source: Its ``task.toml``.
        notes: Where it is told.

    Raises:
        FolderError: it lies outside the folder, or is no task.
    """
    file = tomllib.loads(source.text)
    if file["metadata"][MARK].get("digest") != digest(folder, file):
        notes.append(f"it was made of a generated task and edited since, so it is read as it stands, without {name}")
        return None
    path = folder / name
    return from_json(read_source(inside(path, folder)).text, str(path))


def digest(folder: Path, file: Mapping[str, Any]) -> str:
    """Return the digest of all that a folder holds, its own entry in ``task.toml`` aside.

    Of modes only the x bit counts: it is all that a repository keeps.
    """
    state = hashlib.sha256()
    plain = json.loads(json.dumps(file, default=str))
    plain.get("metadata", {}).get(MARK, {}).pop("digest", None)
    state.update(json.dumps(plain, sort_keys=True).encode())
    for name, piece in sorted(gather_context(folder).items()):
        if piece.kind != "dir" and name != "task.toml":
            content = piece.content if piece.source is None else piece.source.read_bytes()
            state.update(f"\0{name}\0{piece.kind}\0{piece.mode & 0o100}\0".encode(errors="surrogateescape"))
            state.update(hashlib.sha256(content).digest())
    return state.hexdigest()
