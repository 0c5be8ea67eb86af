"""Harbor file: the ``task.toml`` of a task, laid over the one that it was read from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import asdict
from typing import Any

from termgym.folders.environment import PROCESSES
from termgym.folders.harbor import SILENT
from termgym.folders.house import ANYWHERE, MARK, STEPS
from termgym.folders.schema import VERSIONS
from termgym.tasks.task import Limits, Task
from termgym.tasks.verifier import Solution, Stage, Verifier

Table = dict[str, Any]

_PACKAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*")
_OLDER = {"environment": ("memory", "storage")}
"""Older names of what is written under newer ones."""
_MEBIBYTE = 1 << 20


def document(task: Task, name: str, before: Mapping[str, Any]) -> Table:
    """Return what ``task.toml`` says of a task.

    Args:
        task: The task, with an image.
        name: What the folder is called.
        before: What the file said that the task was read from; what the task does not decide stays as it was there.
    """
    made = deepcopy(dict(before))
    made["schema_version"] = made.pop("version", None) or made.get("schema_version", VERSIONS[-1])
    _put(made, "environment", _environment(task))
    _put(made, "agent", {"timeout_sec": task.agent_timeout, "user": _user(task.image.user if task.image else "")})
    if task.verifier is not None:
        _put(made, "verifier", _verifier(task.verifier))
    solutions = [each for each in (task.solution, *(stage.solution for stage in task.stages)) if each is not None]
    if solutions:
        _put(made, "solution", {"env": _solution_env(solutions[0])})
    if task.stages:
        made["multi_step_reward_strategy"] = task.stage_reward
        steps = {step.get("name"): step for step in made.get("steps", ())}
        made["steps"] = [_step(stage, steps.get(stage.name, {})) for stage in task.stages]
    _name(made, task, name)
    _house(made, task)
    return made


def _environment(task: Task) -> Table:
    image, limits = task.image, task.limits
    assert image is not None
    reference = {} if image.dockerfile else {"docker_image": image.reference}  # beside a Dockerfile it stays
    return {
        **reference,
        "build_timeout_sec": image.timeout,
        "cpus": limits.cpu_cores if _plain(limits) else "",
        "memory_mb": (limits.memory_bytes or 0) >> 20 if _plain(limits) else "",
        "storage_mb": (limits.disk_bytes or 0) >> 20 if _plain(limits) else "",
        "env": dict(image.env),
        "workdir": image.cwd or None,
    }


def _plain(limits: Limits) -> bool:
    """Return whether the format can say these limits."""
    sizes = (limits.memory_bytes, limits.disk_bytes)
    whole = all(size is not None and size % _MEBIBYTE == 0 for size in sizes)
    return whole and limits.file_bytes == limits.disk_bytes and limits.processes == PROCESSES


def _verifier(verifier: Verifier) -> Table:
    return {"timeout_sec": verifier.timeout, "env": dict(verifier.env), "user": _user(verifier.user)}


def _step(stage: Stage, before: Mapping[str, Any]) -> Table:
    made = deepcopy(dict(before))
    made["name"] = stage.name
    gate = made.get("min_reward")
    if isinstance(gate, dict):
        _put(made, "min_reward", {"reward": stage.least_reward})
    elif stage.least_reward is None:
        made.pop("min_reward", None)
    else:
        made["min_reward"] = stage.least_reward
    _put(made, "verifier", _verifier(stage.verifier))
    return made


def _solution_env(solution: Solution) -> Table:
    return {name: value for name, value in solution.env.items() if SILENT.get(name) != value}


def _name(made: Table, task: Task, name: str) -> None:
    if _PACKAGE.fullmatch(task.id):
        made.setdefault("task", {})["name"] = task.id
    elif task.id != name:
        _put(made.setdefault("metadata", {}), MARK, {"id": task.id})
    said = [*made.get("task", {}).get("keywords", ()), *made.get("metadata", {}).get("tags", ())]
    if tuple(dict.fromkeys(map(str, said))) != task.tags:
        made.setdefault("metadata", {})["tags"] = list(task.tags)
        made.get("task", {}).pop("keywords", None)


def _house(made: Table, task: Task) -> None:
    """Write down what the format cannot say, and no more."""
    verifiers = (task.verifier, *(stage.verifier for stage in task.stages))
    own: Table = {
        "max_steps": task.max_steps if task.max_steps != STEPS else None,
        "allowed": list(task.allowed) if task.allowed != ANYWHERE else None,
        "limits": None,
        "guard": False if any(not each.guard for each in verifiers if each is not None) else None,
    }
    if not _plain(task.limits):
        own["limits"] = {name: value for name, value in asdict(task.limits).items() if value is not None}
    if any(value is not None for value in own.values()) or made.get("metadata", {}).get(MARK):
        _put(made.setdefault("metadata", {}), MARK, own)


def _put(made: Table, name: str, values: Mapping[str, Any]) -> None:
    """Lay values over a table; None and the empty text take a key away."""
    table = made.setdefault(name, {})
    for older in _OLDER.get(name, ()):
        table.pop(older, None)
    for key, value in values.items():
        if key == "env":
            value = _variables(value, table.get("env", {}))
        if value is None or value in ("", {}):
            table.pop(key, None)
        else:
            table[key] = value
    if not table:
        made.pop(name)


def _variables(told: Mapping[str, str], before: Mapping[str, str]) -> Table:
    """Return variables with the templates that they were filled from: what the host gave is not written down."""
    templates = {name: value for name, value in before.items() if str(value).startswith("${")}
    return {**told, **templates}


def _user(user: str) -> str | int | None:
    return int(user) if user.isdigit() else user or None
