"""Copies: the directories of task folders, kept by content where nobody edits them.

A task is a value: its tests, its solution and its files must not change when somebody edits the folder in the middle of
a training run, and two folders with the same content must be equal tasks. So what a task refers to is copied into the
cache, under the digest of names, permission bits and content.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path, PurePosixPath
from shutil import copyfile, rmtree

from rolf.cache import cache_directory
from termgym.errors import FolderError

IN_PLACE = 256 << 20
"""A build context of more is used where it lies [bytes]: to copy it would take longer than what it saves."""
ABANDONED = 3600.0
"""Age of an unfinished copy from which on nobody is at work at it [s]."""
_SCRATCH = ".making-"


@dataclass(frozen=True, slots=True)
class Piece:
    """One entry of a directory: a file with where its bytes are, a directory, or a link with its target."""

    kind: str
    mode: int = 0o755
    source: Path | None = None
    """Where a file's bytes lie."""
    content: bytes = b""
    """A file's bytes if they lie nowhere; a link's target."""


def gather(directory: Path, folder: Path, excluded: Callable[[Path], bool] | None = None) -> dict[str, Piece]:
    """Return what lies below a directory of a task folder, links within it as links, others as what they lead to.

    Args:
        directory: Where to look; a missing one holds nothing.
        folder: The task folder, which nothing may lead out of.
        excluded: Says of a path that it does not belong to it.

    Raises:
        FolderError: a link leads out of the folder, into the air or in a circle, or there is something that is no file.
    """
    found: dict[str, Piece] = {}
    if directory.exists() or directory.is_symlink():
        inside(directory, folder)
        _gather(directory, "", found, (folder.resolve(), directory.resolve(), (directory.resolve(),)), excluded)
    return found


def gather_context(directory: Path) -> dict[str, Piece]:
    """Return what lies below a build context; links stay links and are not followed, as docker has it.

    Raises:
        FolderError: there is something that is no file, no directory and no link.
    """
    found: dict[str, Piece] = {}
    for parent, folders, files in os.walk(directory, onerror=_refuse):
        for name in sorted((*folders, *files)):
            path = Path(parent, name)
            status = path.lstat()
            found[str(path.relative_to(directory))] = (
                Piece("link", content=os.fsencode(os.readlink(path)))
                if stat.S_ISLNK(status.st_mode)
                else _piece(path, status)
            )
    return found


def inside(path: Path, folder: Path) -> Path:
    """Return where a path of a folder really lies.

    Raises:
        FolderError: it lies outside the folder, or nowhere.
    """
    try:
        found = path.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        if isinstance(error, FileNotFoundError):
            raise FolderError(f"{path}: leads to nothing; remove the link or mend it") from None
        raise FolderError(f"{path}: cannot be followed: {error}; remove the link or mend it") from None
    if not found.is_relative_to(folder.resolve()):
        raise FolderError(f"{path}: leads out of the task folder to {found}; copy what it points at into the folder")
    return found


def over(lower: Mapping[str, Piece], upper: Mapping[str, Piece]) -> dict[str, Piece]:
    """Return two directories as one: what lies above hides what has its name below, with all that was in it.

    So nothing is ever written through a link that the other directory holds.
    """
    shown = {
        name: piece
        for name, piece in lower.items()
        if all(upper[above].kind == "dir" for above in map(str, PurePosixPath(name).parents) if above in upper)
    }
    return {**shown, **upper}


def keep(pieces: Mapping[str, Piece]) -> str:
    """Return the directory of the cache that holds exactly these pieces; it is made where it is missing."""
    place = cache_directory("folders") / _digest(pieces)
    if place.is_dir():
        os.utime(place)
        return str(place)
    _tidy(place.parent)
    scratch = Path(tempfile.mkdtemp(prefix=_SCRATCH, dir=place.parent))
    try:
        _write(pieces, scratch)
        scratch.chmod(0o755)
        _settle(scratch, place)
    finally:
        rmtree(scratch, ignore_errors=True)
    return str(place)


def _tidy(top: Path) -> None:
    """Remove what processes left that were killed in the middle of a copy."""
    for path in top.glob(f"{_SCRATCH}*"):
        with suppress(FileNotFoundError):  # another process was faster
            if path.lstat().st_mtime < time.time() - ABANDONED:
                rmtree(path, ignore_errors=True)


def size(pieces: Mapping[str, Piece]) -> int:
    """Return how much all files hold together [bytes]."""
    return sum(piece.source.lstat().st_size if piece.source else len(piece.content) for piece in pieces.values())


def write(pieces: Mapping[str, Piece], target: Path) -> None:
    """Write pieces into a directory that is there."""
    _write(pieces, target)


def _gather(
    directory: Path,
    prefix: str,
    found: dict[str, Piece],
    bounds: tuple[Path, Path, tuple[Path, ...]],
    excluded: Callable[[Path], bool] | None,
) -> None:
    folder, top, above = bounds
    for path in sorted(directory.iterdir()):
        if excluded is not None and excluded(path):
            continue
        name = f"{prefix}{path.name}"
        if path.is_symlink():
            target = inside(path, folder)
            if not os.path.isabs(os.readlink(path)) and target.is_relative_to(top):
                found[name] = Piece("link", content=os.fsencode(os.readlink(path)))
                continue
            if target in above:
                raise FolderError(f"{path}: leads in a circle to {target}; remove the link")
        status = path.stat()
        found[name] = _piece(path, status)
        if stat.S_ISDIR(status.st_mode):
            _gather(path, f"{name}/", found, (folder, top, (*above, path.resolve())), excluded)


def _refuse(error: OSError) -> None:
    raise FolderError(f"{error.filename}: cannot be read: {error.strerror}; let your user read it") from error


def _piece(path: Path, status: os.stat_result) -> Piece:
    mode = stat.S_IMODE(status.st_mode) & 0o777
    if stat.S_ISDIR(status.st_mode):
        return Piece("dir", mode)
    if stat.S_ISREG(status.st_mode):
        return Piece("file", mode, path)
    kind = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}.get(stat.S_IFMT(status.st_mode), "a device")
    raise FolderError(f"{path}: is {kind}; allowed are files, directories and symbolic links: remove it")


def _digest(pieces: Mapping[str, Piece]) -> str:
    state = hashlib.sha256()
    for name, piece in sorted(pieces.items()):
        state.update(f"{name}\0{piece.kind}\0{piece.mode:o}\0".encode(errors="surrogateescape"))
        if piece.source is None:
            state.update(hashlib.sha256(piece.content).digest())
        else:
            with _opened(piece.source) as file:
                state.update(hashlib.file_digest(file, "sha256").digest())
    return state.hexdigest()


def _opened(path: Path) -> BufferedReader:
    try:
        return path.open("rb")
    except OSError as error:
        raise FolderError(f"{path}: cannot be read: {error.strerror}; let your user read it") from error


def _write(pieces: Mapping[str, Piece], target: Path) -> None:
    for name, piece in sorted(pieces.items()):
        path = target / name
        if piece.kind == "dir":
            path.mkdir(exist_ok=True)
        elif piece.kind == "link":
            path.symlink_to(os.fsdecode(piece.content))
        else:
            if piece.source is None:
                path.write_bytes(piece.content)
            else:
                copyfile(piece.source, path)
            path.chmod(piece.mode)
    for name in _deepest_first(pieces):
        (target / name).chmod(pieces[name].mode | 0o700)


def _deepest_first(pieces: Mapping[str, Piece]) -> Iterator[str]:
    return iter(sorted((name for name, piece in pieces.items() if piece.kind == "dir"), reverse=True))


def _settle(scratch: Path, place: Path) -> None:
    """Give a finished directory its name, unless another process was faster with the same content."""
    try:
        scratch.rename(place)
    except OSError:
        if not place.is_dir():
            raise
