"""Initial states: built once, frozen, shared by every episode that starts from them."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from termgym.errors import TaskError
from termgym.sandbox.death import KILL_DEADLINE
from termgym.sandbox.environment import AGENT_GID, AGENT_NAME, AGENT_UID, EPOCH, WRITABLE_ROOTS, pinned
from termgym.sandbox.limits import Budget
from termgym.snapshot import copy_tree, freeze_times

_SETUP_TIMEOUT = 120.0  # [s]
_KEPT = 64
_SHOWN = 2000  # [characters] of a failed setup's output

SETUP_BUDGET = Budget(memory_bytes=2 << 30, processes=512, cpu_cores=None, file_bytes=2 << 30)
"""What a setup may use at least, however little its episode may."""

Launch = Callable[[Path, Sequence[str], Sequence[int], int], subprocess.Popen[bytes]]
"""``launch(tree, argv, fds, output)``: start a program confined to a tree, as the agent, without network."""


class Worlds:
    """Builds initial states and keeps the most recently used ones."""

    def __init__(self, directory: Path, owner: tuple[int, int] | None) -> None:
        self._directory = directory
        self._owner = owner
        self._built: OrderedDict[str, Path] = OrderedDict()
        self._number = 0
        directory.mkdir()

    def get(self, key: str) -> Path | None:
        """Return the tree built under ``key``, or None if it has to be built (again)."""
        if key in self._built:
            self._built.move_to_end(key)
        return self._built.get(key)

    def build(self, key: str, recipe: dict[str, Any], launch: Launch) -> Path:
        """Build the tree that ``recipe`` (files, setup, tree) describes.

        Raises:
            TaskError: a file lies outside the writable roots, or the setup script failed.
        """
        self._number += 1
        tree = self._directory / str(self._number)
        try:
            self._lay_out(tree, recipe.get("tree"))
            for spec in recipe["files"]:
                self._write(tree, spec)
            if recipe["setup"]:
                _set_up(tree, recipe["setup"], launch)
            freeze_times(tree, EPOCH)
        except BaseException:
            shutil.rmtree(tree, ignore_errors=True)
            raise
        self._built[key] = tree
        return tree

    def trim(self, used: set[Path]) -> None:
        """Drop the least recently used trees that no sandbox stands on."""
        for key in [key for key, tree in self._built.items() if tree not in used][: max(0, len(self._built) - _KEPT)]:
            shutil.rmtree(self._built.pop(key))

    def _lay_out(self, tree: Path, source: str | None) -> None:
        tree.mkdir(mode=0o755)
        home = tree / "home" / AGENT_NAME
        for root in WRITABLE_ROOTS:
            (tree / root).mkdir(parents=True, exist_ok=True)
        if source is None:
            home.mkdir(mode=0o755)
        else:
            copy_tree(Path(source), home, owner=self._owner)
        for name in ("tmp", "dev/shm"):
            (tree / name).chmod(0o1777)
        # The roots are the agent's too: an ordinary user has no other owner to give, and the tree must be the same.
        for path in (tree, tree / "dev", *(tree / root for root in WRITABLE_ROOTS), home):
            self._give(path)

    def _write(self, tree: Path, spec: dict[str, Any]) -> None:
        path = spec["path"]
        inside = os.path.normpath(path)
        if not any(inside.startswith(f"/{root}/") for root in WRITABLE_ROOTS):
            allowed = ", ".join(f"/{root}" for root in WRITABLE_ROOTS)
            raise TaskError(
                f"file {path!r} lies outside what a task may write; allowed are absolute paths under {allowed}"
            )
        target = tree / inside.lstrip("/")
        self._parents(tree, target)
        if target.is_symlink():
            target.unlink()  # what it leads to may be the host's
        content = base64.b64decode(spec["content"])
        if spec["kind"] == "dir":
            target.mkdir(exist_ok=True)
        elif spec["kind"] == "symlink":
            target.symlink_to(os.fsdecode(content))
        else:
            target.write_bytes(content)
        self._give(target)
        if spec["kind"] != "symlink":
            target.chmod(spec["mode"])

    def _parents(self, tree: Path, target: Path) -> None:
        for parent in reversed(target.relative_to(tree).parents):
            directory = tree / parent
            if directory.is_symlink():
                raise TaskError(
                    f"file '/{target.relative_to(tree)}' leads through the symbolic link '/{parent}', which could end "
                    "outside the tree; name the real place"
                )
            if not directory.is_dir():
                directory.mkdir(mode=0o755)
                self._give(directory)

    def _give(self, path: Path) -> None:
        if self._owner is not None:
            os.chown(path, *self._owner, follow_symlinks=False)


def _set_up(tree: Path, script: str, launch: Launch) -> None:
    source = os.memfd_create("setup")
    output = os.memfd_create("output")  # no pipe: a daemon of the setup could hold that, and a flood fill our memory
    try:
        os.write(source, script.encode("utf-8", "surrogateescape"))
        process = launch(tree, ["bash", "-euo", "pipefail", f"/proc/self/fd/{source}"], [source], output)
        try:
            process.wait(_SETUP_TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(KILL_DEADLINE)
            raise TaskError(f"the task's setup ran longer than {_SETUP_TIMEOUT:.0f} s; make it shorter") from None
        size = os.fstat(output).st_size
        end = os.pread(output, 4 * _SHOWN, max(0, size - 4 * _SHOWN))
    finally:
        os.close(source)
        os.close(output)
    if process.returncode:
        shown = end.decode("utf-8", "replace")[-_SHOWN:]
        raise TaskError(f"the task's setup ended with exit status {process.returncode}; its output ends in:\n{shown}")


def setup_environment(home: str) -> dict[str, str]:
    """Return the environment of a setup script: pinned, with the plain path."""
    return {**pinned(home), "PATH": "/usr/bin:/bin"}


AGENT_OWNER = (AGENT_UID, AGENT_GID)
