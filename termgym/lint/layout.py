"""Layout: which file of a task folder is what, in either format, as far as it is there.

Looser than the reader (`termgym.folders`), because what cannot be read is to be looked at as well.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

LARGEST = 1 << 20
"""Largest file whose text is looked at [bytes]."""
MOST = 20_000
"""Most files of a folder that are looked at."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The parts of a task folder; paths are absolute, and may name nothing."""

    root: Path
    harbor: bool
    """Whether it is Harbor's format; else Terminal-Bench 1's."""
    config: Path
    values: Mapping[str, Any]
    """What the configuration says; empty if it cannot be read."""
    context: Path
    """What ``COPY`` reads from."""
    dockerfile: Path
    tests: tuple[Path, ...]
    """Directories and files that belong to verifiers."""
    verifiers: tuple[Path, ...]
    """Scripts that verify, as far as they are there."""
    solutions: tuple[Path, ...]
    """Directories and files that belong to solutions."""
    instructions: tuple[Path, ...]

    def name(self, path: Path) -> str:
        """Return a path as findings call it."""
        return str(path.relative_to(self.root)) if path.is_relative_to(self.root) else str(path)

    def hidden(self, path: Path) -> str:
        """Return what a file is that the agent must not see, ``tests`` or ``solution``, or nothing."""
        for kind, places in (("tests", self.tests), ("solution", self.solutions)):
            if any(path == place or place in path.parents for place in places):
                return kind
        return ""


def layout(root: Path) -> Layout:
    """Return the layout of a folder; one without ``task.yaml`` is taken for Harbor's."""
    if (root / "task.yaml").is_file() and not (root / "task.toml").is_file():
        return _terminal_bench(root)
    return _harbor(root)


def _harbor(root: Path) -> Layout:
    bases = (root, *sorted(path for path in (root / "steps").glob("*") if path.is_dir()))
    tests = tuple(base / "tests" for base in bases)
    config = root / "task.toml"
    try:
        values = tomllib.loads(_read(config))
    except ValueError:
        values = {}
    return Layout(
        root=root,
        harbor=True,
        config=config,
        values=values,
        context=root / "environment",
        dockerfile=root / "environment" / "Dockerfile",
        tests=tests,
        verifiers=tuple(path / "test.sh" for path in tests if (path / "test.sh").is_file()),
        solutions=tuple(base / "solution" for base in bases),
        instructions=tuple(base / "instruction.md" for base in bases if (base / "instruction.md").is_file()),
    )


def _terminal_bench(root: Path) -> Layout:
    config = root / "task.yaml"
    try:
        values = yaml.safe_load(_read(config))
    except (ValueError, yaml.YAMLError):
        values = {}
    script = root / "run-tests.sh"
    return Layout(
        root=root,
        harbor=False,
        config=config,
        values=values if isinstance(values, dict) else {},
        context=root,
        dockerfile=root / "Dockerfile",
        tests=(root / "tests", script),
        verifiers=(script,) if script.is_file() else (),
        solutions=(root / "solution.sh", root / "solution.yaml", root / "solution"),
        instructions=(config,),
    )


def _read(path: Path) -> str:
    return read_text(path) or ""


def read_text(path: Path) -> str | None:
    """Return the text of a file; None if it is no file, no UTF-8, or too large to look at."""
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return None
        return path.read_bytes().decode()
    except UnicodeDecodeError:
        return None


def files(root: Path) -> Iterator[Path]:
    """Yield the regular files below a directory, sorted, without git's own; links are not followed."""
    count = 0
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted(names):
            path = Path(folder, name)
            if path.is_symlink() or not path.is_file():
                continue
            count += 1
            if count > MOST:
                return
            yield path
