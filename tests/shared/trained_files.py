"""What a training has written, to be compared with what another one has."""

from __future__ import annotations

from pathlib import Path

from rolf_adapters.ppo.metrics import TIMES


def files(folder: Path) -> dict[str, bytes]:
    """Return all files, less the times and the buffer's index, which holds when its pages were written."""
    found = (each for each in folder.rglob("*") if each.is_file() and each.name != TIMES)
    return {str(each.relative_to(folder)): each.read_bytes() for each in found if "index-lmdb" not in each.parts}
