"""Making entries of a layer with exactly the modes that are asked for, whatever the caller's umask."""

from __future__ import annotations

from pathlib import Path


def make_directory(path: Path, mode: int = 0o755) -> None:
    """Make a directory and those above it that are missing, which get 0755; one that is there stays as it is."""
    missing = [place for place in (path, *path.parents) if not place.is_dir()]
    for place in reversed(missing):
        place.mkdir()
        place.chmod(mode if place == path else 0o755)


def make_file(path: Path, content: bytes, mode: int = 0o644) -> None:
    """Write a new file."""
    path.write_bytes(content)
    path.chmod(mode)
