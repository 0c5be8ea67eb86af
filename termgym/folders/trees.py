"""Trees: directories of a task, written into a folder."""

from __future__ import annotations

from pathlib import Path

from termgym.errors import FolderError
from termgym.folders.copies import gather_context, write
from termgym.image import Recipe


def copy(source: str, target: Path) -> None:
    """Copy a directory that a task refers to."""
    target.mkdir(parents=True)
    write(gather_context(Path(source)), target)


def dockerfile_below(image: Recipe) -> str:
    """Return where in its context a Dockerfile lies.

    Raises:
        FolderError: it lies elsewhere.
    """
    try:
        return str(Path(image.dockerfile).relative_to(image.context))
    except ValueError:
        raise FolderError(f"dockerfile={image.dockerfile!r} lies outside context={image.context!r}; move it") from None


def put(path: Path, text: str, *, runs: bool = False) -> None:
    """Write a text file, with the x bit where a shell is to run it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755 if runs else 0o644)
