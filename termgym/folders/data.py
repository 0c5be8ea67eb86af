"""Data: a task without an image as JSON, every field of it, and back."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from dataclasses import asdict
from typing import Any

from pydantic import TypeAdapter, ValidationError

from termgym.checks import Check
from termgym.errors import FolderError, TaskError
from termgym.plan import ActionPlan
from termgym.tasks.task import FileSpec, Limits, Service, Task

_CHECKS: TypeAdapter[tuple[Check, ...]] = TypeAdapter(tuple[Check, ...])
_PLANS: TypeAdapter[tuple[ActionPlan, ...]] = TypeAdapter(tuple[ActionPlan, ...])
_SIMPLE = ("id", "instruction", "setup", "max_steps", "family", "cause", "seed", "agent_timeout")
_ROWS = ("read_only", "allowed", "tags")


def to_json(task: Task) -> str:
    """Return a task as JSON text.

    Raises:
        FolderError: it refers to something outside itself.
    """
    if task.tree is not None:
        raise FolderError(f"tree={task.tree!r} lies on this host and cannot be exported; give the task files instead")
    told: dict[str, Any] = {name: getattr(task, name) for name in (*_SIMPLE, *_ROWS)}
    told["goal"] = _CHECKS.dump_python(task.goal, mode="json")
    told["files"] = [_file(each) for each in task.files]
    told["services"] = [asdict(each) for each in task.services]
    told["required_env"] = dict(task.required_env)
    told["limits"] = asdict(task.limits)
    for name in ("oracle", "symptom"):
        told[name] = _PLANS.dump_python(getattr(task, name), mode="json")
    return json.dumps(told, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def from_json(text: str, path: str) -> Task:
    """Return the task of a JSON text.

    Raises:
        FolderError: it is none.
    """
    try:
        told = json.loads(text)
        fields = {name: told[name] for name in _SIMPLE} | {name: tuple(told[name]) for name in _ROWS}
        return Task(
            **fields,
            goal=_CHECKS.validate_json(json.dumps(told["goal"])),
            files=tuple(_spec(each) for each in told["files"]),
            services=tuple(Service(**{**each, "argv": tuple(each["argv"])}) for each in told["services"]),
            required_env=told["required_env"],
            limits=Limits(**told["limits"]),
            oracle=_PLANS.validate_json(json.dumps(told["oracle"])),
            symptom=_PLANS.validate_json(json.dumps(told["symptom"])),
        )
    except (ValueError, KeyError, TypeError, ValidationError) as error:
        if isinstance(error, TaskError):
            raise
        raise FolderError(f"{path}: is no task as data: {type(error).__name__}: {error}; export it again") from error


def _file(spec: FileSpec) -> dict[str, Any]:
    told: dict[str, Any] = {"path": spec.path, "mode": spec.mode, "kind": spec.kind}
    try:
        told["text"] = spec.content.decode()
    except UnicodeDecodeError:
        told["base64"] = b64encode(spec.content).decode()
    return told


def _spec(told: dict[str, Any]) -> FileSpec:
    content = told["text"].encode() if "text" in told else b64decode(told["base64"], validate=True)
    return FileSpec(told["path"], content, mode=told["mode"], kind=told["kind"])
