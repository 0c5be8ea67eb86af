"""Terminal-Bench file: a folder of that format, written from the one that it was read from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from termgym.errors import FolderError
from termgym.folders.environment import MEMORY
from termgym.folders.folder import FolderTask
from termgym.folders.terminal_bench import RUN_TESTS, SOLUTION_SH, SOLUTION_YAML, TaskFile
from termgym.folders.trees import copy, dockerfile_below
from termgym.plan import ActionPlan
from termgym.tasks.task import Task


def write_terminal_bench(given: FolderTask, folder: Path) -> None:
    """Write a folder of Terminal-Bench 1; the build context goes into a directory of its own."""
    task = given.task
    assert task.image is not None
    if task.verifier is None or task.verifier.format != "pytest" or task.id != folder.name:
        raise FolderError(
            f"task {task.id!r} is no longer one of Terminal-Bench 1, or goes into a folder of another name; "
            f"let the folder be called {task.id!r}"
        )
    (folder / "task.yaml").write_text(_dumped(_file(given)))
    (folder / "docker-compose.yaml").write_text(_dumped({"services": {"client": _service(task)}}))
    if task.image.dockerfile:
        copy(task.image.context, folder / "environment")
    copy(task.verifier.directory, folder / "tests")
    (folder / "tests" / RUN_TESTS).rename(folder / RUN_TESTS)
    if task.solution is not None:
        copy(task.solution.directory, folder / "solution")
        (folder / "solution" / SOLUTION_SH).rename(folder / SOLUTION_SH)
        (folder / "solution").rmdir()
    elif task.oracle:
        (folder / SOLUTION_YAML).write_text(_dumped([entry for plan in task.oracle for entry in _commands(plan)]))


def _file(given: FolderTask) -> dict[str, Any]:
    task = given.task
    assert task.verifier is not None
    found: dict[str, Any] = yaml.safe_load(given.source)
    told = {
        "instruction": task.instruction,
        "tags": list(task.tags),
        "max_agent_timeout_sec": task.agent_timeout,
        "max_test_timeout_sec": task.verifier.timeout,
    }
    usual = {name: each.default for name, each in TaskFile.model_fields.items()}
    return {**found, **{key: value for key, value in told.items() if key in found or value != usual[key]}}


def _service(task: Task) -> dict[str, Any]:
    image, limits = task.image, task.limits
    assert image is not None
    service: dict[str, Any] = {
        "image": image.reference,
        "environment": {name: value.replace("$", "$$") for name, value in image.env.items()},
        "working_dir": image.cwd,
        "user": image.user,
        "cpus": limits.cpu_cores,
        "mem_limit": None if limits.memory_bytes == MEMORY else limits.memory_bytes,
    }
    if image.dockerfile:
        build: dict[str, Any] = {"context": "./environment", "dockerfile": dockerfile_below(image)}
        build["target"] = image.target
        build["args"] = {name: value.replace("$", "$$") for name, value in image.arguments.items()}
        service["build"] = {key: value for key, value in build.items() if value}
    return {key: value for key, value in service.items() if value}


def _commands(plan: ActionPlan) -> list[dict[str, Any]]:
    """Return a plan as the commands that it was read from would be."""
    first: dict[str, Any] = {"command": plan.command, "block": True, "max_timeout_sec": plan.timeout}
    if plan.dialogue:
        first = {"command": plan.command, "min_timeout_sec": plan.timeout}
    typed: list[dict[str, Any]] = []
    for each in plan.dialogue:
        # The first character says that it is typed at the program, the rest ends with Enter.
        typed.append({"command": each.send[:1], "append_enter": False})
        typed.append({"command": each.send[1:].removesuffix("\r")})
    return [first, *typed]


def _dumped(data: Any) -> str:
    text: str = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=1 << 16)
    return text
