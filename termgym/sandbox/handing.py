"""Handing a directory of the host's into a live tree: a stage's files, the oracle's solution.

Where the image leads the target through symbolic links of its own, so it goes; a link or file that the agent put in the
way is removed instead, so nothing lands where the agent chose. No process of the agent moves meanwhile.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from termgym.errors import TaskError
from termgym.sandbox.mending import opened_way, remove_entry
from termgym.sandbox.syscalls import open_in_root
from termgym.snapshot.copying import Owner, copy_entry, set_times
from termgym.snapshot.entry import is_visible
from termgym.snapshot.walking import opened_root, split, status_at, walk


def hand_in(source: Path, live: Path, image: Path, target: str, owner: Owner) -> None:
    """Copy what is in a directory into one of a live tree, over what has the same names there.

    Raises:
        TaskError: there is no such directory.
    """
    if not source.is_dir():
        raise TaskError(f"directory {str(source)!r}, which is to appear as {target!r}, is not there (any more)")
    directories: list[tuple[bytes, os.stat_result]] = []
    with opened_root(source) as old, opened_way(live, _place_in(image, target)) as new:
        for path, directory, name, status in walk(old):
            if not path:
                continue
            parent, last = split(path)
            with _opened(new, parent) as place:
                there = status_at(place, last)
                if stat.S_ISDIR(status.st_mode):
                    directories.append((path, status))
                    if there is not None and stat.S_ISDIR(there.st_mode):
                        continue
                remove_entry(place, last)
                copy_entry(directory, name, place, last, status, owner=owner, choose=is_visible)
        for path, status in reversed(directories):
            parent, last = split(path)
            with _opened(new, parent) as place:
                os.chmod(last, stat.S_IMODE(status.st_mode), dir_fd=place)
                set_times(place, last, status)


@contextmanager
def _opened(root: int, path: bytes) -> Iterator[int]:
    """Open a directory below one of a live tree, no part of whose path is a link."""
    place = open_in_root(root, os.fsdecode(path) or ".", os.O_RDONLY | os.O_DIRECTORY, follow=False)
    try:
        yield place
    finally:
        os.close(place)


def _place_in(image: Path, target: str) -> str:
    """Return a path without the image's own symbolic links; what the image does not have is taken as it is."""
    parts = [part for part in target.split("/") if part]
    with opened_root(image) as root:
        for end in range(len(parts), -1, -1):
            try:
                place = open_in_root(root, "/" + "/".join(parts[:end]), os.O_PATH | os.O_DIRECTORY)
            except OSError:
                continue
            try:
                found = os.readlink(f"/proc/self/fd/{place}")
            finally:
                os.close(place)
            return "/".join([found.removeprefix(str(image)), *parts[end:]])
    return target
