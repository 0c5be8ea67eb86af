"""Scripts: the tests, the solution and the files of a Harbor folder, gathered as Harbor hands them over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from pathspec import GitIgnoreSpec

from termgym.errors import FolderError
from termgym.folders.copies import Piece, gather, inside, keep
from termgym.folders.source import read_source

IGNORE = ".harborignore"
"""Rules of what does not belong to tests and solutions, in gitignore's form."""


def gathered(directory: Path, folder: Path) -> dict[str, Piece]:
    """Return what lies below a directory of tests or of a solution, without what its rules leave out."""
    return gather(directory, folder, _rules(directory, folder))


def tests(pieces: Mapping[str, Piece], folder: Path, wanted: str) -> str:
    """Return the directory that is shown as ``/tests``.

    Raises:
        FolderError: there is no script in it, or one that no shell would understand.
    """
    _script(pieces, "test.sh", folder, wanted)
    return keep(pieces)


def solution(pieces: Mapping[str, Piece], folder: Path, wanted: str) -> str:
    """Return the directory that is shown as ``/solution``; raises as `tests` does."""
    _script(pieces, "solve.sh", folder, wanted)
    return keep(pieces)


def _script(pieces: Mapping[str, Piece], name: str, folder: Path, wanted: str) -> None:
    piece = pieces.get(name)
    if piece is None:
        batch = name.replace(".sh", ".bat")
        more = f"; {batch} is for Windows, which is not supported" if batch in pieces else ""
        raise FolderError(f"{folder}: has no {wanted}/{name}{more}; the script must be there, and not be ignored")
    read_source(folder / wanted / name if piece.source is None else piece.source, script=True)


def _rules(top: Path, folder: Path) -> Callable[[Path], bool]:
    known: dict[Path, GitIgnoreSpec] = {}

    def rules(directory: Path) -> GitIgnoreSpec:
        if directory not in known:
            path = directory / IGNORE
            lines: list[str] = []
            if path.exists() or path.is_symlink():
                inside(path, folder)
                lines = read_source(path).text.splitlines()
            known[directory] = GitIgnoreSpec.from_lines(lines)
        return known[directory]

    def excluded(path: Path) -> bool:
        if path.name == IGNORE:
            return True
        verdict = False
        for above in reversed([each for each in path.parents if each == top or each.is_relative_to(top)]):
            said = rules(above).check_file(str(path.relative_to(above)) + ("/" if path.is_dir() else ""))
            verdict = verdict if said.include is None else said.include
        return verdict

    return excluded
