"""Export: a generated task as a Harbor folder, which plays elsewhere and reads back as the same task here.

Elsewhere it is a container image, a verifier and a solution. Here ``[metadata.rolf]`` leads to the task as data, as
long as nobody edited the folder; an edited one is read as what it says.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tomlkit

from termgym.checks import Check, PortOpen, ProcessRunning, VariableSet
from termgym.errors import FolderError
from termgym.folders import outside
from termgym.folders.data import to_json
from termgym.folders.dockerfile import SERVICES, write_environment
from termgym.folders.generated import digest
from termgym.folders.house import MARK
from termgym.folders.solve import checks_json, write_solution
from termgym.folders.trees import put
from termgym.sandbox.environment import AGENT_UID
from termgym.tasks.task import Limits, Task

DATA = "environment/rolf/task.json"
"""Where the task lies as data; ``.dockerignore`` keeps it out of the image."""
TEST = "#!/bin/bash\nexec python3 -I /tests/judge.py /tests/checks.json /logs/verifier/reward.txt\n"


def export(task: Task, folder: Path) -> None:
    """Write a Harbor folder of a task without an image.

    Raises:
        FolderError: nothing of its goal can be seen from outside, or it refers to something on this host.
    """
    checks = [check for check in task.goal if not isinstance(check, VariableSet)]
    if not checks:
        raise FolderError(
            f"task {task.id!r} has no goal that shows from outside the shell, so no verifier can judge it"
        )
    put(folder / "instruction.md", task.instruction + "\n")
    write_environment(task, folder / "environment")
    put(folder / DATA, to_json(task))
    write_solution(task.oracle, folder / "solution")
    put(folder / "tests" / "test.sh", TEST, runs=True)
    put(folder / "tests" / "judge.py", Path(outside.__file__).read_text())
    put(folder / "tests" / "checks.json", checks_json([_told(check) for check in checks], AGENT_UID))
    file = _file(task)
    file["metadata"][MARK]["digest"] = digest(folder, file)
    put(folder / "task.toml", tomlkit.dumps(file))


def _told(check: Check) -> dict[str, object]:
    return {"type": check.type, **check.model_dump(mode="json", exclude_defaults=True)}


def _file(task: Task) -> dict[str, Any]:
    environment: dict[str, Any] = {"network_mode": "no-network", **_limits(task.limits)}
    if task.services:
        environment["healthcheck"] = {"command": f"bash {SERVICES}", "interval_sec": 1.0, "retries": 30}
    metadata = {"family": task.family, "cause": task.cause, "seed": task.seed, "tags": list(task.tags)}
    own: dict[str, Any] = {"task": DATA, "max_steps": task.max_steps, "allowed": list(task.allowed)}
    differs = list(_differences(task))
    if differs:
        own["differs"] = differs
    return {
        "schema_version": "1.4",
        "metadata": {**metadata, MARK: own},
        "verifier": {"timeout_sec": 120.0, "network_mode": "no-network", "user": "root"},
        "agent": {"timeout_sec": task.agent_timeout or 600.0, "network_mode": "no-network"},
        "environment": environment,
    }


def _limits(limits: Limits) -> dict[str, Any]:
    told: dict[str, Any] = {}
    if limits.memory_bytes is not None:
        told["memory_mb"] = max(limits.memory_bytes >> 20, 1)
    if limits.disk_bytes is not None:
        told["storage_mb"] = max(limits.disk_bytes >> 20, 1)
    if limits.cpu_cores is not None:
        told["cpus"] = limits.cpu_cores
    return told


def _differences(task: Task) -> list[str]:
    """Return what other harnesses do not reproduce, for people."""
    told = [f"{path} is not mounted read-only" for path in task.read_only]
    told += [f"shell variable {check.name} is not looked at" for check in task.goal if isinstance(check, VariableSet)]
    if any(isinstance(check, (ProcessRunning, PortOpen)) or getattr(check, "others_run", False) for check in task.goal):
        told.append("what must be running in the end is not, where the agent's programs are ended before the tests run")
    if any(spec.path.startswith("/dev/shm/") for spec in task.files):
        told.append("files below /dev/shm are not there")
    return told
