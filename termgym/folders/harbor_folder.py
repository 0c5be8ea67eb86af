"""Harbor folder: the files of a task that has an image, where Harbor looks for them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomlkit
import yaml

from termgym.errors import FolderError
from termgym.folders.harbor_file import document
from termgym.folders.trees import copy, dockerfile_below, put
from termgym.image import Recipe
from termgym.tasks.task import Task
from termgym.tasks.verifier import Solution, Verifier

USUAL_TESTS = ("bash", "/tests/test.sh")
USUAL_SOLUTION = ("bash", "/solution/solve.sh")


def write_harbor(task: Task, folder: Path, before: Mapping[str, Any]) -> None:
    """Write a Harbor folder of a task that has an image."""
    assert task.image is not None
    put(folder / "task.toml", tomlkit.dumps(document(task, folder.name, before)))
    _environment(task.image, folder / "environment")
    if task.verifier is not None:
        put(folder / "instruction.md", task.instruction)
        _tests(task.verifier, folder)
    if task.solution is not None:
        _solution(task.solution, folder)
    for stage in task.stages:
        directory = folder / "steps" / stage.name
        put(directory / "instruction.md", stage.instruction)
        _tests(stage.verifier, directory)
        if stage.solution is not None:
            _solution(stage.solution, directory)
        if stage.workdir:
            copy(stage.workdir, directory / "workdir")


def _environment(image: Recipe, directory: Path) -> None:
    if not image.dockerfile:
        return
    written = dockerfile_below(image)
    if not image.arguments and not image.target and written == "Dockerfile":
        copy(image.context, directory)
        return
    copy(image.context, directory / "context")
    build = {
        "context": "./context",
        "dockerfile": written,
        "args": dict(image.arguments),
        "target": image.target,
    }
    service = {"build": {key: value for key, value in build.items() if value}}
    (directory / "docker-compose.yaml").write_text(yaml.safe_dump({"services": {"main": service}}, sort_keys=False))


def _tests(verifier: Verifier, folder: Path) -> None:
    if verifier.command != USUAL_TESTS or verifier.format != "reward":
        raise FolderError(
            f"verifier={verifier!r} cannot be said by Harbor, which runs {' '.join(USUAL_TESTS)} and reads rewards; "
            "write the folder's task as it was read, or change the verifier"
        )
    copy(verifier.directory, folder / "tests")


def _solution(solution: Solution, folder: Path) -> None:
    if solution.command != USUAL_SOLUTION:
        raise FolderError(f"solution={solution!r} cannot be said by Harbor, which runs {' '.join(USUAL_SOLUTION)}")
    copy(solution.directory, folder / "solution")
