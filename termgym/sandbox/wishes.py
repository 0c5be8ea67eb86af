"""Wishes: what a task asks of a sandbox, in the words that the supervisor understands."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from termgym.errors import SandboxUnavailable
from termgym.sandbox.environment import faketime_library, frozen_clock
from termgym.tasks.task import Limits, Task


def clock_variables(clock: str, *, isolated: bool) -> dict[str, str]:
    """Return the variables that a clock (``real`` or ``frozen``) needs.

    Raises:
        ValueError: there is no such clock, or not here; SandboxUnavailable: a library is missing.
    """
    if clock == "real":
        return {}
    if clock != "frozen":
        raise ValueError(f"clock is {clock!r}; allowed are 'real' and 'frozen'")
    if not isolated:
        raise ValueError("clock='frozen' needs backend='local'; without isolation it would litter the host's /dev/shm")
    library = faketime_library()
    if library is None:
        raise SandboxUnavailable("clock='frozen' needs libfaketime; install it (`apt-get install libfaketime`)")
    return frozen_clock(library)


def start_request(task: Task, limits: Limits, env: Mapping[str, str], preload: Mapping[str, str]) -> dict[str, Any]:
    """Return what ``start`` is asked with. The initial state goes by a key; its recipe follows if it is not known."""
    services = [
        {"argv": list(s.argv), "ready_port": s.ready_port, "ready_path": s.ready_path, "cwd": s.cwd}
        for s in task.services
    ]
    return {
        "key": _key(task),
        "services": services,
        "read_only": list(task.read_only),
        "env": dict(env),
        "preload": dict(preload),
        "disk_bytes": limits.disk_bytes,
        "budget": {
            "memory_bytes": limits.memory_bytes,
            "processes": limits.processes,
            "cpu_cores": limits.cpu_cores,
            "file_bytes": limits.file_bytes,
        },
    }


@functools.lru_cache(maxsize=256)
def _recipe_text(task_files: tuple[Any, ...], setup: str, tree: str | None) -> str:
    files = [
        {"path": f.path, "content": base64.b64encode(f.content).decode(), "mode": f.mode, "kind": f.kind}
        for f in task_files
    ]
    return json.dumps({"files": files, "setup": setup, "tree": tree})


def recipe(task: Task) -> dict[str, Any]:
    """Return how the initial state is built."""
    made: dict[str, Any] = json.loads(_recipe_text(task.files, task.setup, task.tree))
    return made


@functools.lru_cache(maxsize=1024)
def _digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _key(task: Task) -> str:
    return _digest_of(_recipe_text(task.files, task.setup, task.tree))
